package main

import (
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
