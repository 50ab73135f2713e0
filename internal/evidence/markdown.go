package evidence

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// Markdown returns the report for people.
func (r *Report) Markdown() string {
	var b strings.Builder
	var answered []Operation
	var others []string
	for _, o := range r.Operations {
		if len(o.Statuses) > 0 {
			answered = append(answered, o)
		} else {
			others = append(others, o.ID)
		}
	}
	results := map[Result]int{}
	for _, a := range r.Assumptions {
		results[a.Result]++
	}
	fmt.Fprintf(&b, "# Report of %s\n\nVersion %s, %s to %s, %s.\n\n", r.Tool, r.Version, r.StartedAt.Format(time.RFC3339), r.FinishedAt.Format(time.RFC3339), plural(r.Requests, "request"))
	if r.Unanswered > 0 {
		fmt.Fprintf(&b, "%s had no answer.\n\n", plural(r.Unanswered, "request"))
	}
	if r.Emulator {
		b.WriteString("The emulator answered. This report says nothing about the service.\n\n")
	}
	fmt.Fprintf(&b, "| | |\n|---|---|\n| operations seen | %d of %d |\n| deviations | %d |\n| assumptions confirmed | %d |\n| assumptions refuted | %d |\n| assumptions not seen | %d |\n\n",
		len(answered), len(r.Operations), len(r.Deviations), results[Confirmed], results[Refuted], results[NotSeen])
	b.WriteString("## Deviations\n\n")
	table(&b, "None.", []string{"operation", "status", "kind", "place", "expected", "found", "count"}, len(r.Deviations), func(i int) []string {
		d := r.Deviations[i]
		status := fmt.Sprint(d.Status)
		if d.Status == 0 {
			status = ""
		}
		return []string{d.Operation, status, string(d.Kind), d.Place.Place, d.Expected, d.Found, fmt.Sprint(d.Count)}
	})
	for _, result := range []Result{Refuted, Confirmed, NotSeen} {
		var shown []Assumption
		silent := 0 // Of these, there is nothing to say.
		for _, a := range r.Assumptions {
			switch {
			case a.Result != result:
			case a.Observed == "":
				silent++
			default:
				shown = append(shown, a)
			}
		}
		fmt.Fprintf(&b, "## Assumptions: %s\n\n", result)
		if len(shown) > 0 || silent == 0 {
			table(&b, "None.", []string{"assumption", "areas", "observed"}, len(shown), func(i int) []string {
				return []string{shown[i].ID, cmp.Or(strings.Join(shown[i].Areas, ", "), "all"), shown[i].Observed}
			})
		}
		if silent > 0 {
			fmt.Fprintf(&b, "Nothing in this run shows %s. They are in `report.json`.\n\n", plural(silent, "assumption"))
		}
	}
	b.WriteString("## Skipped\n\n")
	table(&b, "Nothing.", []string{"part", "variable that runs it", "reason"}, len(r.Skipped), func(i int) []string {
		return []string{r.Skipped[i].What, r.Skipped[i].Variable, r.Skipped[i].Why}
	})
	b.WriteString("## Operations\n\n")
	table(&b, "None.", []string{"operation", "request", "statuses", "note"}, len(answered), func(i int) []string {
		o := answered[i]
		return []string{o.ID, o.Method + " " + o.Path, statuses(o), noteOn(o)}
	})
	sentence(&b, "Not seen: ", others)
	return b.String()
}

func statuses(o Operation) string {
	var all []string
	for _, status := range slices.Sorted(maps.Keys(o.Statuses)) {
		all = append(all, fmt.Sprintf("%s (%d)", status, o.Statuses[status]))
	}
	return strings.Join(all, ", ")
}

// noteOn says what the statuses of an operation that no document has show.
func noteOn(o Operation) string {
	switch {
	case !o.Beyond:
		return ""
	case o.Statuses["404"] > 0 && len(o.Statuses) == 1:
		return "not in the documents; only 404, so it may be missing"
	default:
		return "not in the documents; the service has it"
	}
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// sentence writes names, if there are any.
func sentence(b *strings.Builder, lead string, names []string) {
	if len(names) > 0 {
		fmt.Fprintf(b, "%s%s.\n\n", lead, strings.Join(names, ", "))
	}
}

// table writes rows, or a text if there are none.
func table(b *strings.Builder, none string, head []string, rows int, row func(int) []string) {
	if rows == 0 {
		b.WriteString(none + "\n\n")
		return
	}
	fmt.Fprintf(b, "| %s |\n|%s\n", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for i := range rows {
		cells := row(i)
		for j, cell := range cells {
			cells[j] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
	}
	b.WriteString("\n")
}

const pageHead = `---
page_title: "Evidence"
subcategory: "About this provider"
description: |-
  See what the service's documents state, what the provider assumes, and what a real service has confirmed.
---

# Evidence

The provider follows the service's API documents. Where they are silent, it makes an assumption. This page lists all %d assumptions.
%s Where a row speaks of live answers, the makers of independent clients reported them.

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

// objectList has a line for each object of the provider, with the operations that it uses.
//
//go:embed objects.txt
var objectList string

// writeObjects writes on which assumptions and undocumented operations each object rests.
func writeObjects(b *strings.Builder, doc *contract.Document) {
	b.WriteString("## Objects\n\nEach object also rests on assumptions of [several areas](#several-areas).\n\n")
	objects := strings.Split(strings.TrimSpace(objectList), "\n")
	table(b, "", []string{"object", "assumptions", "operations beyond the documents"}, len(objects), func(i int) []string {
		name, list, _ := strings.Cut(objects[i], ": ")
		used := strings.Fields(list)
		var assumed, beyond []string
		for _, a := range doc.Assumptions() {
			if len(a.Areas) == 1 && slices.ContainsFunc(a.Operations, func(id string) bool { return slices.Contains(used, id) }) {
				assumed = append(assumed, "`"+a.ID+"`")
			}
		}
		for _, o := range doc.Operations() {
			if o.Beyond != "" && slices.Contains(used, o.ID) {
				beyond = append(beyond, "`"+o.ID+"`")
			}
		}
		return []string{"`agentyard_" + name + "`", strings.Join(assumed, "<br>"), strings.Join(beyond, "<br>")}
	})
}

// Page returns the page of the evidence.
func Page(doc *contract.Document, record Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, len(doc.Assumptions()), summary(doc, record))
	writeObjects(&b, doc)
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
