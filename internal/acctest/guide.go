package acctest

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// Guide is a guide of the documentation that a test follows block by block, as a reader does.
type Guide struct {
	t      testing.TB
	name   string
	blocks []guideBlock
}

type guideBlock struct{ language, text string }

var fenced = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")

// NewGuide opens docs/guides/NAME.md. The test fails at its end unless every block was taken.
func NewGuide(t testing.TB, name string) *Guide {
	t.Helper()
	_, file, _, _ := runtime.Caller(0)
	page, err := os.ReadFile(filepath.Join(filepath.Dir(file), "..", "..", "docs", "guides", name+".md"))
	if err != nil {
		t.Fatal(err)
	}
	g := &Guide{t: t, name: name}
	for _, found := range fenced.FindAllStringSubmatch(string(page), -1) {
		g.blocks = append(g.blocks, guideBlock{language: found[1], text: found[2]})
	}
	t.Cleanup(func() {
		for _, block := range g.blocks {
			if !t.Failed() && !t.Skipped() {
				t.Errorf("%s: the test does not use this block:\n%s", name, block.text)
			}
		}
	})
	return g
}

// Next takes the next block, which must be in this language. Replacements are pairs of old and new text, for what a guide
// can only show, such as an ID; the old text must be there.
func (g *Guide) Next(language string, replacements ...string) string {
	g.t.Helper()
	if len(g.blocks) == 0 || g.blocks[0].language != language {
		g.t.Fatalf("%s: the next of these blocks is not in %s: %v", g.name, language, g.blocks)
	}
	text := g.blocks[0].text
	g.blocks = g.blocks[1:]
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			g.t.Fatalf("%s: no %q in\n%s", g.name, replacements[i], text)
		}
	}
	return strings.NewReplacer(replacements...).Replace(text)
}

// Follow runs the commands of a shell block as they stand, one a line, and answers their questions with yes. It returns
// what they printed.
func (c *CLI) Follow(block string) []Result {
	c.t.Helper()
	for _, command := range []string{"plan", "apply", "destroy"} {
		flags := "-input=false"
		if command != "plan" {
			flags += " -auto-approve"
		}
		c.Setenv("TF_CLI_ARGS_"+command, flags)
	}
	var results []Result
	for line := range strings.Lines(block) {
		words := strings.Fields(line)
		if len(words) < 2 || words[0] != "terraform" || strings.ContainsAny(line, `'"\$|;&`) {
			c.t.Fatalf("%q is not a plain terraform command", line)
		}
		results = append(results, c.MustRun(words[1:]...))
	}
	return results
}

// Patch changes a file of the working folder as a diff block says: lines with a minus become those with a plus.
func (c *CLI) Patch(name, diff string) {
	c.t.Helper()
	text, err := os.ReadFile(filepath.Join(c.Dir, name))
	if err != nil {
		c.t.Fatal(err)
	}
	var before, after strings.Builder
	for line := range strings.Lines(diff) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		}
	}
	if strings.Count(string(text), before.String()) != 1 {
		c.t.Fatalf("%s does not contain exactly once:\n%s", name, before.String())
	}
	c.Write(name, strings.Replace(string(text), before.String(), after.String(), 1))
}
