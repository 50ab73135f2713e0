package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
)

//go:embed skips.txt
var skips string

// notable marks a log line of a passing test that is shown all the same.
const notable = "fault matrix of "

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action  string
	Package string
	Test    string
	Output  string
}

// tally counts tests, subtests included.
type tally struct {
	passed, failed, skipped int
	unexpected              []string
}

func (t *tally) add(other tally) {
	t.passed += other.passed
	t.failed += other.failed
	t.skipped += other.skipped
	t.unexpected = append(t.unexpected, other.unexpected...)
}

func (t tally) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", t.passed, t.failed, t.skipped)
}

// verdict is an error unless tests ran, none failed, and none was skipped without need.
func (t tally) verdict() error {
	switch {
	case t.failed > 0:
		return fmt.Errorf("%d failed", t.failed)
	case len(t.unexpected) > 0:
		return fmt.Errorf("%d skipped that internal/tools/testall/skips.txt does not expect", len(t.unexpected))
	case t.passed == 0:
		return errors.New("no test ran")
	}
	return nil
}

// expectedSkips returns the patterns of skips.txt for a CLI.
func expectedSkips(cli string) ([]*regexp.Regexp, error) {
	var patterns []*regexp.Regexp
	for line := range strings.Lines(skips) {
		name, pattern, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != cli {
			continue
		}
		compiled, err := regexp.Compile(strings.TrimSpace(pattern))
		if err != nil {
			return nil, fmt.Errorf("skips.txt: %w", err)
		}
		patterns = append(patterns, compiled)
	}
	return patterns, nil
}

// report reads the events of one `go test -json`, writes a line for each package and everything about what failed,
// and counts.
func report(in io.Reader, out io.Writer, expected []*regexp.Regexp) (tally, error) {
	var sum tally
	outputs := map[string]map[string]string{} // By package and test; the package's own lines under "".
	failures := map[string]int{}
	show := func(text string) { _, _ = io.WriteString(out, text) }

	for decoder := json.NewDecoder(in); ; {
		var e event
		if err := decoder.Decode(&e); errors.Is(err, io.EOF) {
			return sum, nil
		} else if err != nil {
			return sum, err
		}
		if outputs[e.Package] == nil {
			outputs[e.Package] = map[string]string{}
		}
		tests := outputs[e.Package]

		switch {
		case e.Action == "build-output":
			show(e.Output)
		case e.Action == "output":
			tests[e.Test] += e.Output
			if e.Test != "" && strings.Contains(e.Output, notable) {
				show(e.Output)
			}
		case e.Test == "" && e.Action == "pass":
			show(summaryLine(tests[""]))
		case e.Test == "" && e.Action == "fail":
			// What was still running when the process died is shown too, the package's own lines last.
			for _, test := range slices.Sorted(maps.Keys(tests)) {
				if test != "" {
					show(tests[test])
				}
			}
			show(tests[""])
			if failures[e.Package] == 0 {
				sum.failed++ // It did not compile, or it died outside of any test.
			}
		case e.Test != "" && e.Action == "pass":
			sum.passed++
			delete(tests, e.Test)
		case e.Test != "" && e.Action == "fail":
			sum.failed++
			failures[e.Package]++
			show(tests[e.Test])
			delete(tests, e.Test)
		case e.Test != "" && e.Action == "skip":
			sum.skipped++
			if skip := e.Package + "." + e.Test + ": " + reason(tests[e.Test]); !matchesAny(expected, skip) {
				sum.unexpected = append(sum.unexpected, skip)
			}
			delete(tests, e.Test)
		}
	}
}

// summaryLine returns the line "ok <package> <time>" of a package's output.
func summaryLine(text string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "ok ") {
			return line
		}
	}
	return ""
}

// reason returns what a skipped test said, without the lines that go test adds.
func reason(text string) string {
	var said []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "=== ") && !strings.HasPrefix(line, "--- ") {
			said = append(said, line)
		}
	}
	return strings.Join(said, " ")
}

func matchesAny(patterns []*regexp.Regexp, text string) bool {
	for _, p := range patterns {
		if p.MatchString(text) {
			return true
		}
	}
	return false
}
