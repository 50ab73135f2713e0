package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	const skipped = `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:3: needs a CLI with resource identity: Terraform 1.12 or newer\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"--- SKIP: TestA (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}`

	tests := map[string]struct {
		cli, in   string
		want      string
		wantError string // Part of the verdict; empty for none.
		shown     []string
		hidden    []string
	}{
		"passed": {
			cli: "terraform",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    fault matrix of x: 3 cases, 3 held\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Output":"PASS\n"}
{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}
{"Action":"pass","Package":"p"}`,
			want:   "1 passed, 0 failed, 0 skipped",
			shown:  []string{"ok  \tp\t0.1s", "fault matrix of x"},
			hidden: []string{"chatter", "PASS"},
		},
		"failed, another passed": {
			cli: "terraform",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"why A failed\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"chatter\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestB"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}`,
			want:      "1 passed, 1 failed, 0 skipped",
			wantError: "1 failed",
			shown:     []string{"why A failed", "FAIL\tp"},
			hidden:    []string{"chatter"},
		},
		"did not compile": {
			cli: "terraform",
			in: `{"Action":"build-output","ImportPath":"p","Output":"undefined: x\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"fail","Package":"p","FailedBuild":"p"}`,
			want:      "0 passed, 1 failed, 0 skipped",
			wantError: "1 failed",
			shown:     []string{"undefined: x"},
		},
		"died in a test": {
			cli: "terraform",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: all is lost\n"}
{"Action":"fail","Package":"p"}`,
			want:      "0 passed, 1 failed, 0 skipped",
			wantError: "1 failed",
			shown:     []string{"panic: all is lost"},
		},
		"nothing ran": {
			cli:       "terraform",
			in:        `{"Action":"skip","Package":"p"}`,
			want:      "0 passed, 0 failed, 0 skipped",
			wantError: "no test ran",
		},
		"skipped with the newest Terraform": {
			cli:       "terraform",
			in:        skipped,
			want:      "0 passed, 0 failed, 1 skipped",
			wantError: "skips.txt does not expect",
		},
		"skipped with an old Terraform": {
			cli:       "terraform-1.5",
			in:        skipped + `{"Action":"pass","Package":"p","Test":"TestB"}`,
			want:      "1 passed, 0 failed, 1 skipped",
			wantError: "",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			expected, err := expectedSkips(test.cli)
			if err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			sum, err := report(strings.NewReader(test.in), &out, expected)
			if err != nil {
				t.Fatal(err)
			}
			if got := sum.String(); got != test.want {
				t.Errorf("counted %q, want %q", got, test.want)
			}
			switch err := sum.verdict(); {
			case test.wantError == "" && err != nil:
				t.Errorf("verdict: %v", err)
			case test.wantError != "" && (err == nil || !strings.Contains(err.Error(), test.wantError)):
				t.Errorf("verdict: %v, want %q", err, test.wantError)
			}
			for _, text := range test.shown {
				if !strings.Contains(out.String(), text) {
					t.Errorf("does not show %q:\n%s", text, &out)
				}
			}
			if i := slices.IndexFunc(test.hidden, func(text string) bool { return strings.Contains(out.String(), text) }); i >= 0 {
				t.Errorf("shows %q:\n%s", test.hidden[i], &out)
			}
		})
	}
}

func TestReport_unreadable(t *testing.T) {
	t.Parallel()
	if _, err := report(strings.NewReader("FAIL"), &bytes.Buffer{}, nil); err == nil {
		t.Error("text that is no JSON is accepted")
	}
}
