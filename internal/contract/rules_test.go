package contract

import (
	"slices"
	"strings"
	"testing"
)

func TestHandlerChecksRefusals(t *testing.T) {
	t.Parallel()
	rule := func(ids string) map[string]string { return map[string]string{RuleHeader: ids} }
	const restart, good = "/api/v0/computers/c/restart", `{}`
	refused := response{status: 400, body: problem400}
	for _, c := range []struct {
		name, body string
		next       response
		side       Side
		want       string // Part of the violation; empty if there is none.
	}{
		{"no rule", good, refused, Response, "no rule was named"},
		{"a rule of the operation", good, response{400, problem400, rule("not-active")}, Response, ""},
		{"two rules", good, response{400, problem400, rule("nul-character, not-active")}, Response, ""},
		{"a rule of another operation", good, response{400, problem400, rule("byom-clone")}, Response, `rule "byom-clone", which restartComputer does not have`},
		{"a rule that is not listed", good, response{400, problem400, rule("whim")}, Response, `rule "whim"`},
		{"another status", good, response{404, `{"detail":"No.","status":404,"title":"Not Found"}`, nil}, Response, ""},
		{"a programmed fault", good, response{400, problem400, map[string]string{FaultHeader: "status-before-commit"}}, Response, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			violations, _ := exchange(t, c.next, post, restart, c.body, nil)
			checkViolation(t, violations, c.side, c.next.status, c.want)
		})
	}
}

func TestRulesSayWhy(t *testing.T) {
	t.Parallel()
	d := document(t)
	var ids []string
	for _, r := range Rules() {
		if slices.Contains(ids, r.ID) {
			t.Errorf("%s is listed twice", r.ID)
		}
		ids = append(ids, r.ID)
		if len(r.Text) < 20 || !strings.HasSuffix(r.Text, ".") || !slices.Contains([]Source{Spec, Assumed}, r.Source) {
			t.Errorf("%s needs a sentence and a source: %q, %q", r.ID, r.Text, r.Source)
		}
		for _, id := range r.Operations {
			if !slices.ContainsFunc(d.Operations(), func(o Operation) bool { return o.ID == id }) {
				t.Errorf("%s is a rule of %s, which the contract lacks", r.ID, id)
			}
		}
	}
}
