// Package phrase contains the English grammar rules that messages need.
package phrase

import (
	"fmt"
	"strings"
)

// MaxNamed limits how many objects a message names.
const MaxNamed = 20

// Names lists the first most names and counts the rest: "a, b, c and 7 more".
func Names(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// Either lists quoted values: `"a"`, `"a" or "b"`, `"a", "b", or "c"`.
func Either(values []string) string {
	text := fmt.Sprintf("%q", values)
	text = strings.ReplaceAll(text[1:len(text)-1], `" "`, `", "`)
	last := strings.LastIndex(text, `, "`)
	switch {
	case last < 0:
		return text
	case len(values) == 2:
		return text[:last] + " or" + text[last+1:]
	}
	return text[:last] + ", or" + text[last+1:]
}

// Join joins sentences with spaces and omits empty ones.
func Join(sentences ...string) string {
	text := ""
	for _, s := range sentences {
		if text != "" && s != "" {
			text += " "
		}
		text += s
	}
	return text
}

// Verb returns the verb for a count: "does" or "do".
func Verb(count int, one, several string) string {
	if count == 1 {
		return one
	}
	return several
}

// Thousands writes an integer with commas: 1,000,000.
func Thousands(n any) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0 && text[at-1] != '-'; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// Count returns a count with its noun, whose plural ends in s: "1 computer", "3 computers".
func Count(count int, noun string) string {
	return fmt.Sprintf("%d %s", count, Verb(count, noun, noun+"s"))
}
