package guides

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// reader follows a guide to the letter: writes each file under the name that the page gives it, and runs the commands.
type reader struct {
	t        *testing.T
	e        *acctest.Env
	cli      *acctest.CLI
	page     string
	blocks   []block  // What is left to do.
	programs []string // Paths of programs besides the CLI.
}

// block is a code block, with the name of its file if the text before it gives one.
type block struct{ language, file, text string }

var (
	fenced   = regexp.MustCompile("(?ms)^```([a-z]*)\n(.*?)^```$")
	fileName = regexp.MustCompile("`([\\w./-]+\\.(?:tf|tofu|tfvars|hcl|json|yml|go))`")
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "guides", name+".md"))
	check.Must(t, err)
	return string(text)
}

// blocksOf returns the code blocks of a page. The first one is main.tf, unless the page says otherwise.
func blocksOf(text string) (all []block) {
	file, end := "main.tf", 0
	for _, at := range fenced.FindAllStringSubmatchIndex(text, -1) {
		if text[at[2]:at[3]] == "text" {
			continue // A drawing.
		}
		if names := fileName.FindAllStringSubmatch(text[end:at[0]], -1); len(names) > 0 {
			file = names[len(names)-1][1]
		}
		all = append(all, block{text[at[2]:at[3]], file, text[at[4]:at[5]]})
		file, end = "", at[1]
	}
	return all
}

// seedOf returns the emulator's seed on a page, and the name of its file. Both are empty if there is none.
func seedOf(text string) (seed, file string) {
	for _, b := range blocksOf(text) {
		if b.language == "json" {
			return b.text, b.file
		}
	}
	return "", ""
}

// seeded is an emulator with the seed of a page.
func seeded(t *testing.T, name string) acctest.Option {
	t.Helper()
	text, file := seedOf(page(t, name))
	if file == "" {
		return func(*emulator.Options) {}
	}
	file = filepath.Join(t.TempDir(), file)
	check.Must(t, os.WriteFile(file, []byte(text), 0o600))
	seed, err := emulator.ReadSeed(file)
	check.Must(t, err)
	return func(o *emulator.Options) { o.Seed = seed }
}

// open opens a guide in an empty folder. The test fails at its end unless everything on the page was done.
func open(t *testing.T, e *acctest.Env, name string) *reader {
	t.Helper()
	g := &reader{t: t, e: e, page: name, cli: acctest.NewCLI(t, e, ""), blocks: blocksOf(page(t, name))}
	for _, file := range []string{"provider.tf", "main.tf"} {
		check.Must(t, os.Remove(filepath.Join(g.cli.Dir, file)))
	}
	g.cli.Setenv("TF_CLI_CONFIG_FILE", acctest.Mirror(t, "0.1.0"))
	g.cli.Setenv("TF_IN_AUTOMATION", "")
	t.Cleanup(func() {
		if len(g.blocks) > 0 && !t.Failed() && !t.Skipped() {
			t.Errorf("%s: the test does not do this:\n%s", name, g.blocks[0].text)
		}
	})
	return g
}

// step does everything up to the next commands, which must succeed, and returns what they print. Replacements are pairs
// of old and new text, for what a guide can only show, such as an ID; the old text must be there.
func (g *reader) step(replacements ...string) string {
	g.t.Helper()
	r := g.try(replacements...)
	if r.ExitCode != 0 {
		g.t.Fatalf("%s: exit code %d\n%s", g.page, r.ExitCode, r.Output)
	}
	return r.Output
}

// refused is step for commands that fail.
func (g *reader) refused(replacements ...string) string {
	g.t.Helper()
	r := g.try(replacements...)
	if r.ExitCode == 0 {
		g.t.Fatalf("%s: nothing failed\n%s", g.page, r.Output)
	}
	return r.Output
}

func (g *reader) try(replacements ...string) acctest.Result {
	g.t.Helper()
	var seen strings.Builder
	for len(g.blocks) > 0 {
		next := g.blocks[0]
		g.blocks = g.blocks[1:]
		seen.WriteString(next.text)
		if next.language == "sh" {
			continue // It needs a network, and internal/acctest/firststeps runs it with a proxy.
		}
		next.text = strings.NewReplacer(replacements...).Replace(next.text)
		if next.language != "shell" {
			g.write(next)
			continue
		}
		for i := 0; i < len(replacements); i += 2 {
			if !strings.Contains(seen.String(), replacements[i]) {
				g.t.Fatalf("%s: no %q in\n%s", g.page, replacements[i], seen.String())
			}
		}
		return g.cli.Shell(next.text, g.programs...)
	}
	g.t.Fatalf("%s: no more commands", g.page)
	return acctest.Result{}
}

// write writes a block's file, or changes it as a diff says: lines with a minus become those with a plus.
func (g *reader) write(b block) {
	g.t.Helper()
	if b.file == "" {
		g.t.Fatalf("%s: the text does not name the file of\n%s", g.page, b.text)
	}
	if b.language != "diff" {
		g.cli.Write(b.file, b.text)
		return
	}
	text := g.read(b.file)
	var before, after strings.Builder
	for line := range strings.Lines(b.text) {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		}
	}
	if strings.Count(text, before.String()) != 1 {
		g.t.Fatalf("%s: %s has not exactly once\n%s", g.page, b.file, before.String())
	}
	g.cli.Write(b.file, strings.Replace(text, before.String(), after.String(), 1))
}

// leave leaves out the steps up to the next text that contains this.
func (g *reader) leave(until string) {
	for len(g.blocks) > 0 && !strings.Contains(g.blocks[0].text, until) {
		g.blocks = g.blocks[1:]
	}
}

// read reads a file of the working folder.
func (g *reader) read(name string) string {
	g.t.Helper()
	text, err := os.ReadFile(filepath.Join(g.cli.Dir, name))
	check.Must(g.t, err)
	return string(text)
}

// run runs a command that the page does not show.
func (g *reader) run(script string) string {
	g.t.Helper()
	r := g.cli.Shell(script, g.programs...)
	if r.ExitCode != 0 {
		g.t.Fatalf("%s: %s: exit code %d\n%s", g.page, script, r.ExitCode, r.Output)
	}
	return r.Output
}

// expect fails the test unless the output contains all of these.
func (g *reader) expect(output string, wants ...string) {
	g.t.Helper()
	for _, want := range wants {
		if !strings.Contains(strings.Join(strings.Fields(output), " "), want) {
			g.t.Errorf("%s: the output does not contain %q:\n%s", g.page, want, output)
		}
	}
}
