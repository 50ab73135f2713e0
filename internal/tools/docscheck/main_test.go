package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", maxSentence)
	for name, test := range map[string]struct {
		page string
		want int
	}{
		"short":                         {"---\n" + long + "more\n---\n\n# Title\n\nOne sentence.\n\n```\n" + long + "more\n```\n", 0},
		"longest allowed":               {long + ". " + long + ". Some more. Then some.\n", 0},
		"long sentence":                 {"```\n```\n- " + long + "\n  more, and the next line.\n", 1},
		"long introduction":             {long + ". " + long + ". One two three four five six seven eight nine ten eleven.\n\n```\n", 1},
		"code is one word":              {strings.Repeat("word ", maxSentence-1) + "`a b c d`.\n", 0},
		"a link counts as its text":     {strings.Repeat("word ", maxSentence-1) + "[text](a/b - c).\n", 0},
		"blocks end a sentence":         {"```\n```\n" + long + "\n- " + long + "\n- " + long + "\n\n| " + long + "|\n", 0},
		"another word for a member":     {"# A person\n\nInvite a person, as `human`.\n\n| one | (People) |\n\nA personal team.\n", 2},
		"an object and its requirement": {"# agentyard_x (Resource)\n\nOne.\n\n**Requires:** a key.\n\n```\n```\n", 0},
		"an object without it":          {"# agentyard_x (Resource)\n\nOne.\n\n```\n```\n", 1},
		"notes with and without a lead": {"# agentyard_x (Resource)\n\n**Requires:** a key.\n\n## Example Usage\n\n```\n```\n\n**A lead.** A note.\n\n-> A hint.\n\nA note.\n\n<!-- schema -->\n", 1},
		"a period in code ends nothing": {"```\n```\n" + long + "`a. b` more.\n", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := check(test.page); len(got) != test.want {
				t.Errorf("got %d problems, want %d:\n%s", len(got), test.want, strings.Join(got, "\n"))
			}
		})
	}
}

func TestCheckLinks(t *testing.T) {
	t.Parallel()
	tooWide := strings.Repeat("y ", maxCode/2) + "y"
	project := t.TempDir()
	for name, page := range map[string]string{
		"index.md":       "[relative](guides/a)\n[good](" + registry + "/guides/a#first-steps)\n[bad](" + registry + "/guides/c)\n[other](https://example.com/x)\n",
		"guides/a.md":    "## First `steps`\n\n```terraform\n# [no](link)\n```\n\n```klingon\n```\n\n[b](../resources/b)\n[here](#first-steps)\n[anchor](../resources/b#no)\n",
		"resources/b.md": "<a id=\"nested\"></a>\n[a](../guides/a)\n[nested](#nested)\n[gone](c)\n[file](" + repository + "/tree/main/docs)\n[no file](" + repository + "/blob/main/none)\n\n```sh\n" + strings.Repeat("x ", maxCode/2) + "\n" + tooWide + "\n```\n",
	} {
		file := filepath.Join(project, "docs", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pages, err := read(filepath.Join(project, "docs"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]string{
		"index":       {"guides/a: a link of the index page must be absolute", registry + "/guides/c: no such page"},
		"guides/a":    {"a code block in an unknown language: klingon", "../resources/b#no: no such anchor"},
		"resources/b": {"a line of code has more than 80 characters: " + tooWide, "c: no such page", repository + "/blob/main/none: no such file in the repository"},
	} {
		if got := slices.Concat(checkCode(pages[name]), checkLinks(name, pages, project)); !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}
