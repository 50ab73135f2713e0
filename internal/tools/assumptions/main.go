// Command assumptions writes the page of the evidence: what the documents state, what is assumed, and what a real service has
// confirmed.
//
// usage: go run ./internal/tools/assumptions [REPORT]
//
// With the report.json of a run against a real service, it first adds the results to the record.
package main

import (
	"fmt"
	"os"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

const (
	record = "internal/evidence/record.json"
	page   = "docs/guides/evidence.md"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "assumptions:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	doc, err := contract.Load()
	if err != nil {
		return err
	}
	r, err := evidence.ReadRecord(record)
	if err != nil {
		return err
	}
	for _, path := range args {
		report, err := evidence.ReadReport(path)
		if err != nil {
			return err
		}
		if err := r.Add(report); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	r.Prune(doc)
	if err := r.Write(record); err != nil {
		return err
	}
	return os.WriteFile(page, []byte(evidence.Page(doc, r)), 0o644) //nolint:gosec // It is part of the project.
}
