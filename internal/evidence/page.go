package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

const pageHead = `---
page_title: "Evidence"
description: |-
  See what the service's documents state, what the provider assumes, and what a real service has confirmed.
---

# Evidence

The provider follows the service's API documents. Where they are silent, it makes an assumption. This page lists all %d assumptions.
%s

` + "```sh" + `
agentyard-probe -out report
make assumptions REPORT=report/report.json
` + "```" + `

The first command compares your organization with the assumptions. See [Troubleshooting](../guides/troubleshooting#unexpected-answers-of-the-service).
The second one, in a checkout of the provider, adds the report to this page.

An assumption is **confirmed** if the answers agreed with it, and **refuted** if one did not. It stays refuted until a maintainer
corrects it. Operations **beyond the documents** are
known from other sources. In the tables, the spec and the guides are the service's documents, and the reference is a dated copy of
its public reference.

`

// Page returns the page of the evidence.
func Page(doc *contract.Document, record Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, len(doc.Assumptions()), summary(doc, record))
	var areas []string
	for _, o := range doc.Operations() {
		areas = append(areas, o.Tag)
	}
	slices.Sort(areas)
	for _, area := range slices.Compact(areas) {
		writeArea(&b, doc, record, area)
	}
	b.WriteString("## Several areas\n\n")
	assumptions(&b, record, doc.Assumptions(), func(a contract.Assumption) bool { return len(a.Areas) != 1 })
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func summary(doc *contract.Document, record Record) string {
	results := map[Result]int{}
	newest := ""
	for _, a := range doc.Assumptions() {
		if e, ok := record[a.ID]; ok {
			results[e.Result]++
			newest = max(newest, e.day())
		}
	}
	if newest == "" {
		return "**No real service has been tried yet, so none of them is confirmed.**"
	}
	return fmt.Sprintf("A real service has confirmed %d of them and refuted %d. The newest report is of %s.", results[Confirmed], results[Refuted], newest)
}

func writeArea(b *strings.Builder, doc *contract.Document, record Record, area string) {
	var stated []string
	var beyond []contract.Operation
	for _, o := range doc.Operations() {
		switch {
		case o.Tag != area:
		case o.Beyond == "":
			stated = append(stated, "`"+o.ID+"`")
		default:
			beyond = append(beyond, o)
		}
	}
	title := strings.ToUpper(area[:1]) + strings.ReplaceAll(area[1:], "-", " ")
	fmt.Fprintf(b, "## %s\n\n", strings.Replace(title, "Ci", "CI", 1))
	sentence(b, "In the documents: ", stated)
	if len(beyond) > 0 {
		table(b, "", []string{"beyond the documents", "source", "result"}, len(beyond), func(i int) []string {
			return []string{"`" + beyond[i].ID + "`", beyond[i].Beyond, record.text(beyond[i].ID)}
		})
	}
	assumptions(b, record, doc.Assumptions(), func(a contract.Assumption) bool { return slices.Equal(a.Areas, []string{area}) })
}

func assumptions(b *strings.Builder, record Record, all []contract.Assumption, suits func(contract.Assumption) bool) {
	some := slices.DeleteFunc(all, func(a contract.Assumption) bool { return !suits(a) })
	table(b, "No assumptions.", []string{"assumption", "what is assumed, and what is open", "result"}, len(some), func(i int) []string {
		return []string{"`" + some[i].ID + "`", some[i].Why, record.text(some[i].ID)}
	})
}

// text says what is known, and since when.
func (r Record) text(id string) string {
	e, ok := r[id]
	if !ok {
		return string(NotSeen)
	}
	return fmt.Sprintf("%s on %s (%s %s): `%s`", e.Result, e.day(), e.Tool, e.Version, strings.ReplaceAll(e.Observed, "`", ""))
}

// day is that of the report, such as 2026-01-31.
func (e Entry) day() string { return e.Time.Format(time.DateOnly) }
