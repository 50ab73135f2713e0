package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	t.Parallel()
	tooWide := strings.Repeat("y ", maxCode/2) + "y"
	project, output := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{
		"index.md":       "[relative](guides/a)\n[good](" + registry + "/guides/a#first-steps)\n[bad](" + registry + "/guides/c)\n",
		"guides/a.md":    "## First steps\n\n~> Take care.\n\n```terraform\nresource \"x\" \"y\" {}\n```\n\n```klingon\n```\n\n[b](../resources/b)\n[here](#first-steps)\n[anchor](../resources/b#no)\n",
		"resources/b.md": "<a id=\"nested\"></a>\n[a](../guides/a)\n[nested](#nested)\n[gone](c)\n[file](" + repository + "/tree/main/docs)\n[no file](" + repository + "/blob/main/none)\n\n```sh\n" + strings.Repeat("x ", maxCode/2) + "\n" + tooWide + "\n```\n",
	} {
		file := filepath.Join(project, "docs", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("---\npage_title: \"agentyard_t Resource - X\"\nsubcategory: \"S\"\n---\n\n"+content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	problems, err := run(project, output)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"docs/guides/a.md: a code block in an unknown language: klingon",
		"docs/guides/a.md: ../resources/b#no: no such anchor",
		"docs/index.md: guides/a: a link of the index page must be absolute",
		"docs/index.md: " + registry + "/guides/c: no such page",
		"docs/resources/b.md: a line of code has more than 80 characters: " + tooWide,
		"docs/resources/b.md: c: no such page",
		"docs/resources/b.md: " + repository + "/blob/main/none: no such file in the repository",
	}
	if strings.Join(problems, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(problems, "\n"), strings.Join(want, "\n"))
	}
	shown, err := os.ReadFile(filepath.Join(output, "guides", "a.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{`<div class="callout" data-kind="~">`, `href="../resources/b.html"`, `<h2>S</h2>`, `<h3>Guides</h3>`, `<h3>Resources</h3>`, `agentyard_<wbr>t</a>`, `<span class="kr">resource</span>`, `.chroma .kr { color: `} {
		if !strings.Contains(string(shown), part) {
			t.Errorf("the page lacks %s:\n%s", part, shown)
		}
	}
}
