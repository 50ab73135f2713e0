// Command docscheck fails if a generated page has too many words before its first example, too long a sentence, or another
// word for a member, or if an object's page does not begin with what the object requires, or has a note without a lead. It
// also fails if a link or an anchor leads nowhere, or a line of code is wider than the registry's column.
//
// usage: go run ./internal/tools/docscheck [PROJECT]
package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const (
	maxIntroduction = 60 // Words before the first example.
	maxSentence     = 25 // Words in a sentence outside of code.
)

var (
	frontMatter = regexp.MustCompile(`(?s)\A---\n.*?\n---\n`)
	codeBlock   = regexp.MustCompile("(?s)```.*?```")
	inlineCode  = regexp.MustCompile("`[^`]*`")
	linkTarget  = regexp.MustCompile(`\]\([^)]*\)`)
	// A heading, list item, table row, or callout starts a new block, as an empty line does.
	blockStart  = regexp.MustCompile(`(?m)^\s*(#|[-*] |\d+\. |\||[~\->]> )`)
	sentenceEnd = regexp.MustCompile(`[.!?]["')*]*\s`)
	word        = regexp.MustCompile(`[\pL\pN]`)
	lead        = regexp.MustCompile(`^(\*\*|[~\-]> )`)
	otherWord   = regexp.MustCompile(`(?i)^\PL*(humans?|persons?|people|leavers?)\PL*$`) // For a member of the organization.
)

func main() {
	project := "."
	if len(os.Args) > 1 {
		project = os.Args[1]
	}
	pages, err := read(filepath.Join(project, "docs"))
	if err != nil {
		fmt.Fprintln(os.Stderr, "docscheck:", err)
		os.Exit(1)
	}
	found := 0
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		for _, problem := range slices.Concat(check(pages[name]), checkCode(pages[name]), checkLinks(name, pages, project)) {
			fmt.Printf("docs/%s.md: %s\n", name, problem)
			found++
		}
	}
	if found > 0 {
		fmt.Fprintf(os.Stderr, "docscheck: %d problems; correct the text that the pages are generated from\n", found)
		os.Exit(1)
	}
}

// read returns the pages of a folder by name.
func read(folder string) (map[string]string, error) {
	pages := map[string]string{}
	err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(file) != ".md" {
			return err
		}
		name, err := filepath.Rel(folder, strings.TrimSuffix(file, ".md"))
		if err != nil {
			return err
		}
		page, err := os.ReadFile(file)
		pages[filepath.ToSlash(name)] = string(page)
		return err
	})
	return pages, err
}

func check(page string) (problems []string) {
	page = frontMatter.ReplaceAllString(page, "")
	introduction, _, _ := strings.Cut(page, "```")
	if strings.HasPrefix(strings.TrimSpace(page), "# agentyard_") {
		if !strings.Contains(introduction, "\n**Requires:** ") {
			problems = append(problems, "no line that says what the object requires, such as crud.AnyKey")
		}
		_, notes, _ := strings.Cut(codeBlock.ReplaceAllString(page, ""), "## Example Usage\n")
		notes, _, _ = strings.Cut(notes, "<!--") // The schema.
		for note := range strings.SplitSeq(strings.TrimSpace(notes), "\n\n") {
			if note = strings.TrimSpace(note); note != "" && !lead.MatchString(note) {
				problems = append(problems, "a note without a bold lead: "+note)
			}
		}
	}
	if n := len(words(introduction)); n > maxIntroduction {
		problems = append(problems, fmt.Sprintf("%d words before the first example, at most %d", n, maxIntroduction))
	}
	for _, sentence := range sentences(page) {
		w := words(sentence)
		if len(w) > maxSentence {
			problems = append(problems, fmt.Sprintf("a sentence of %d words, at most %d: %s", len(w), maxSentence, strings.Join(w, " ")))
		}
		if slices.ContainsFunc(w, otherWord.MatchString) {
			problems = append(problems, "another word for a member: "+strings.Join(w, " "))
		}
	}
	return problems
}

func sentences(page string) (result []string) {
	page = codeBlock.ReplaceAllString(page, "\n\n")
	page = inlineCode.ReplaceAllString(page, "code")
	page = blockStart.ReplaceAllString(page, "\n\n$0")
	for block := range strings.SplitSeq(page, "\n\n") {
		result = append(result, sentenceEnd.Split(block+"\n", -1)...)
	}
	return result
}

// words leaves out headings and lone punctuation. A piece of code counts as one word, a link as its text.
func words(text string) (result []string) {
	text = linkTarget.ReplaceAllString(inlineCode.ReplaceAllString(text, "code"), "]")
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for field := range strings.FieldsSeq(line) {
			if word.MatchString(field) {
				result = append(result, field)
			}
		}
	}
	return result
}
