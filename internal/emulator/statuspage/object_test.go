package statuspage

import (
	"fmt"
	"testing"
)

// What failed is first, then the newest. The status page has the first rows only.
func TestFirstRows(t *testing.T) {
	t.Parallel()
	k := &Kind{}
	for i := range 17 {
		k.Rows = append(k.Rows, Row{Ref: Ref{ID: "x", Name: fmt.Sprintf("n%02d", i)}, State: "active", CreatedAt: int64(100 + i)})
	}
	k.Rows = append(k.Rows, Row{Ref: Ref{ID: "x", Name: "broken"}, State: "error"})
	k.finish()
	healthy := &Kind{}
	if kinds := firstRows([]*Kind{healthy, k}); kinds[0] != k {
		t.Error("what failed is not first")
	}
	var names []string
	for _, r := range k.Rows {
		names = append(names, r.Name)
	}
	if got := fmt.Sprint(names, k.Rest, k.Total, k.Failed); got != "[broken n16 n15 n14 n13 n12 n11 n10 n09 n08] 8 18 1" {
		t.Error(got)
	}
}

func TestImportOf(t *testing.T) {
	t.Parallel()
	for want, tc := range map[string]struct{ resource, name, id string }{
		"": {"", "a", "a"},
		"import {\n  to = agentyard_computer.ci_1\n  id = \"a\"\n}":                              {"agentyard_computer", "CI-1", "a"},
		"import {\n  to = agentyard_computer.this_1st\n  id = \"a\"\n}":                          {"agentyard_computer", "1st ä", "a"},
		"import {\n  to = agentyard_member_invitation.x\n  id = \"\\\"$${a}%%{b}\\\\\\\"@x\"\n}": {"agentyard_member_invitation", "x@y", `"${a}%{b}\"@x`},
	} {
		if got := importOf(tc.resource, &Row{Ref: Ref{ID: tc.id, Name: tc.name}}); got != want {
			t.Errorf("%+v: %s, want %s", tc, got, want)
		}
	}
}
