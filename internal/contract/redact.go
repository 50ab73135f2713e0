package contract

import (
	"fmt"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// looksLikeName reports a name of a field or a word of an enum: short, of ASCII letters, _ and -, and with few digits and capitals.
// Keys, IDs, and addresses do not look so. In some words, all letters are capitals.
func looksLikeName(text string) bool {
	small, capitals, digits := 0, 0, 0
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			small++
		case r >= 'A' && r <= 'Z':
			capitals++
		case i > 0 && r >= '0' && r <= '9':
			digits++
		case r != '_' && r != '-' || i == 0 && r == '-':
			return false
		}
	}
	if small == 0 {
		return len(text) <= 40 && capitals > 0 && digits == 0
	}
	return len(text) <= 40 && capitals <= 5 && digits <= 2
}

// shownKey returns the name of a field that the contract does not have if it looks like one, which begins with a small letter.
func shownKey(name string) string {
	if looksLikeName(name) && (name[0] < 'A' || name[0] > 'Z') {
		return name
	}
	return "key"
}

// shownWord returns the value of an enum if the contract has it, in whatever case, or if it looks like the words that it has: a
// person's name has capitals or blanks, which those have not.
func shownWord(s *openapi3.Schema, v any) string {
	text, ok := v.(string)
	if !ok {
		return "another " + typeOf(v)
	}
	capitals := false
	for _, known := range s.Enum {
		word := fmt.Sprint(known)
		if strings.EqualFold(word, text) {
			return text
		}
		capitals = capitals || strings.ToLower(word) != word
	}
	if !looksLikeName(text) || !capitals && strings.ToLower(text) != text {
		return "another string"
	}
	return text
}
