package main

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
)

//go:embed survivors.txt
var survivors string

// enough is the share of the mutants of a package that tests must kill, in percent.
const enough = 95

// The statuses of gremlins. Whatever is neither killed nor beyond a run has survived.
const (
	killed    = "KILLED"
	timedOut  = "TIMED OUT"
	notViable = "NOT VIABLE"
)

// mutant is one change of one line. Its text finds it again when its line number has moved.
type mutant struct {
	file, before, after string
	status              string
}

func (m mutant) survived() bool {
	return m.status != killed && m.status != timedOut && m.status != notViable
}

// same ignores the status, which the list does not give.
func (m mutant) same(other mutant) bool {
	m.status = other.status
	return m == other
}

func (m mutant) String() string { return fmt.Sprintf("%s\n- %s\n+ %s\n", m.file, m.before, m.after) }

// changes are what gremlins makes of an operator, by its names for them. The longer operators stand first.
var changes = map[string][][2]string{
	"ARITHMETIC_BASE":       {{"+", "-"}, {"-", "+"}, {"*", "/"}, {"/", "*"}, {"%", "*"}},
	"CONDITIONALS_BOUNDARY": {{">=", ">"}, {"<=", "<"}, {">", ">="}, {"<", "<="}},
	"CONDITIONALS_NEGATION": {{"==", "!="}, {"!=", "=="}, {">=", "<"}, {"<=", ">"}, {">", "<="}, {"<", ">="}},
	"INCREMENT_DECREMENT":   {{"++", "--"}, {"--", "++"}},
	"INVERT_NEGATIVES":      {{"-", "+"}},
}

// change returns a line, without its indentation, as a mutant has it.
func change(kind, line string, column int) (string, error) {
	start, rest := line[:column-1], line[column-1:]
	for _, c := range changes[kind] {
		if after, ok := strings.CutPrefix(rest, c[0]); ok {
			return strings.TrimSpace(start + c[1] + after), nil
		}
	}
	return "", fmt.Errorf("no change %s is known of %q", kind, rest)
}

// parseSurvivors reads paragraphs of a file, the line as it is, the line as it could be as well, and the reason.
func parseSurvivors(text string) ([]mutant, error) {
	var listed []mutant
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(paragraph, "#") || paragraph == "" {
			continue
		}
		lines := strings.SplitN(paragraph, "\n", 4)
		if len(lines) < 4 || !strings.HasPrefix(lines[1], "- ") || !strings.HasPrefix(lines[2], "+ ") {
			return nil, fmt.Errorf("not a file, a line with -, a line with + and a reason:\n%s", paragraph)
		}
		listed = append(listed, mutant{file: lines[0], before: lines[1][2:], after: lines[2][2:]})
	}
	return listed, nil
}

// report writes what became of a package's mutants, and reports that enough were killed, that every survivor is listed
// and every listed one survived.
func report(out io.Writer, name string, found, listed []mutant) bool {
	counts := map[string]int{}
	var surprises []string
	for _, m := range found {
		counts[m.status]++
		if !m.survived() {
			continue
		}
		if at := slices.IndexFunc(listed, m.same); at >= 0 {
			listed = slices.Delete(listed, at, at+1)
		} else {
			surprises = append(surprises, "Survived and is not listed: "+m.String())
		}
	}
	for _, m := range listed {
		surprises = append(surprises, "Listed and did not survive: "+m.String())
	}

	viable := len(found) - counts[notViable]
	percent := 100 * float64(counts[killed]) / float64(max(viable, 1))
	_, _ = fmt.Fprintf(out, "%-9s %d killed, %d survived, %d timed out: %.1f %% of %d killed. %d do not compile.\n",
		name, counts[killed], viable-counts[killed]-counts[timedOut], counts[timedOut], percent, viable, counts[notViable])
	for _, s := range surprises {
		_, _ = fmt.Fprintln(out, s)
	}
	if percent < enough {
		_, _ = fmt.Fprintf(out, "%s: fewer than %d %% are killed.\n", name, enough)
	}
	return percent >= enough && len(surprises) == 0
}
