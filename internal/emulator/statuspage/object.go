package statuspage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	// objectsPrefix begins the paths of the pages of objects.
	objectsPrefix = "/objects/"
	// objectEvents is how many events, which are also requests, the page of an object lists.
	objectEvents = 50
)

// Ref is the address of an object's page. Without a kind, there is none.
type Ref struct {
	Kind string `json:"kind,omitempty"`
	ID   string `json:"id,omitempty"`
	Name string `json:"name"`
}

// Path is the path of the page, or empty.
func (o Ref) Path() string {
	if o.Kind == "" {
		return ""
	}
	return objectsPrefix + o.Kind + "/" + url.PathEscape(o.ID)
}

// ShownID is the ID, or empty if the name contains it.
func (o Ref) ShownID() string {
	if strings.Contains(strings.ToLower(o.Name), strings.ToLower(o.ID)) {
		return ""
	}
	return o.ID
}

// objectTimeOf is a time on the emulator's clock.
func objectTimeOf(ms int64) string {
	if ms == 0 {
		return ""
	}
	return time.UnixMilli(ms).UTC().Format(time.DateTime)
}

// objectPage is what the page of an object, or of all objects of a kind, shows. As on the status page, there are no
// keys, signed URLs, prompts, or logs, and also no scripts.
type objectPage struct {
	pageHeader
	Kind     *Kind
	Row      *Row // Nil for all objects of the kind.
	JSON     string
	By, Note string // The operation that returns the JSON, and what about it is worth knowing.
	Import   string
	History  []shownEvent
	Others   int // How many events are left out.
	Actions  []Action
}

type shownEvent struct{ At, Age, Text, Note, Class string }

// objectPage reads what a path under objectsPrefix shows. A path that leads nowhere has a page that says so.
func (pages *Pages) objectPage(address *url.URL) (page, error) {
	kind, id, one := strings.Cut(strings.TrimPrefix(address.Path, objectsPrefix), "/")
	kinds, row, d, err := pages.objects(kind, id)
	at := slices.IndexFunc(kinds, func(k *Kind) bool { return k.ID == kind })
	p := &objectPage{pageHeader: headerOf(pages.source.State(), "Nothing is here"), Row: row}
	if p.Missing = at < 0 || one && row == nil; p.Missing || err != nil {
		return p, err
	}
	p.Kind = kinds[at]
	p.Title = p.Kind.Name
	if row == nil {
		p.Kind.Whole = true
		slices.SortStableFunc(p.Kind.Rows, func(a, b Row) int { return cmp.Or(cmp.Compare(severity(a), severity(b)), byName(a.Name, b.Name)) })
		return p, nil
	}
	p.Title, p.By, p.Note, p.Actions = row.Name, p.Kind.Operation, p.Kind.Note, d.Actions
	if !row.Foreign {
		p.Import = importOf(p.Kind.Resource, row)
	} else {
		for i := range p.Actions {
			p.Actions[i].Note = ownersKey
		}
	}
	if d.Body != nil {
		if p.JSON, err = indented(d.Body); err != nil {
			return nil, err
		}
	}
	named := strings.ToLower(cmp.Or(row.Requests, row.ID))
	for _, x := range pages.source.Requests() {
		query, _ := url.QueryUnescape(x.Query)
		if strings.Contains(strings.ToLower(x.Path+"?"+query), named) || slices.ContainsFunc(x.Changes, func(c Change) bool { return c.ID == row.ID && c.Kind == kind }) {
			text := strings.TrimSuffix(x.name()+": "+x.result()+", "+x.Fault, ", ")
			d.History = append(d.History, Event{At: x.Time.UnixMilli(), Text: text, Note: x.address()})
		}
	}
	slices.SortStableFunc(d.History, func(a, b Event) int { return cmp.Compare(b.At, a.At) })
	p.Others = max(0, len(d.History)-objectEvents)
	for _, event := range d.History[:len(d.History)-p.Others] {
		p.History = append(p.History, shownEvent{objectTimeOf(event.At), statusTimeOf(time.UnixMilli(event.At), p.Now).Age, event.Text, event.Note, stateClasses[event.State]})
	}
	return p, nil
}

// byName orders names that end in numbers by these, such as ci-2 before ci-10.
func byName(a, b string) int {
	x, y := strings.TrimRight(a, "0123456789"), strings.TrimRight(b, "0123456789")
	return cmp.Or(cmp.Compare(x, y), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// importOf is a block that imports an object, or empty. Its label is made of the name.
func importOf(resource string, row *Row) string {
	if resource == "" {
		return ""
	}
	name, _, _ := strings.Cut(row.Name, "@")
	label := strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(name), "_"), "_")
	if label == "" || label[0] >= '0' && label[0] <= '9' {
		label = strings.TrimSuffix("this_"+label, "_")
	}
	resource = cmp.Or(row.Resource, resource)
	id := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{").Replace(cmp.Or(row.ImportID, row.ID))
	return fmt.Sprintf("import {\n  to = %s.%s\n  id = \"%s\"\n}", resource, label, id)
}

// ownersKey is the note to what only the owner can do. Nobody else can import the object.
const ownersKey = "Needs an API key of the owner."

// notShown stands for what the API returns and the page does not show, because the page needs no key.
const notShown = "(not shown here)"

// hidden are texts of a person or of their code, and passwords in URLs, such as that of a repository.
var (
	hidden   = regexp.MustCompile(`"(script|setupScript|excerpt|title)": "(?:[^"\\]|\\.)+"`)
	userInfo = regexp.MustCompile(`://[^/\s"]+@`)
)

// indented is JSON for reading, as the API writes it, without what is hidden.
func indented(body any) (string, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(body)
	shown := hidden.ReplaceAllString(strings.TrimSpace(text.String()), `"$1": "`+notShown+`"`)
	return userInfo.ReplaceAllString(shown, "://"+notShown+"@"), err
}

func statusTimeOf(at, now time.Time) statusTime {
	t := statusTime{At: at, Exact: at.UTC().Format(time.RFC3339), Age: "now"}
	if age := now.Sub(at); age >= time.Second {
		t.Age = Duration(age) + " ago"
	}
	return t
}

// Action is a button: a request to the emulator.
type Action struct {
	Label, Method, Path, Body string
	Confirm                   bool   // The browser asks before it carries it out.
	Note                      string // Why there is no button.
}

// Creations are the operations that create objects. Faults of the page affect the first, unless another one is chosen.
var Creations = []string{
	"createComputer", "bulkCreateComputers", "createApiKey", "createEnvironment", "createEnvironmentBuild", "createServiceAccount", "createSession", "createWikiRun",
	"editCiWorkflow", "inviteMember", "sendSessionMessage", "setGlobalUsageLimit", "setUserUsageLimits",
}

// pageActions are the actions of the status page: they move the clock, or let the next creation fail.
type pageActions struct {
	Clock, Faults []Action
	Creations     []string
}

func actionsOfPage() pageActions {
	const clock, faults, operation = "/_emulator/clock", "/_emulator/faults", `{"operation":"createComputer","kind":`
	return pageActions{
		[]Action{
			{Label: "Forward 1 day", Method: "POST", Path: clock, Body: `{"advance":"1d"}`},
			{Label: "Forward 30 days", Method: "POST", Path: clock, Body: `{"advance":"30d"}`},
		},
		[]Action{
			{Label: "Return 503", Method: "POST", Path: faults, Body: operation + `"status-before-commit","status":503}`},
			{Label: "Lose the response", Method: "POST", Path: faults, Body: operation + `"drop-after-commit"}`},
			{Label: "Clear request faults", Method: "DELETE", Path: faults},
		},
		Creations,
	}
}

// ShellText is a word of a command line, in quotes if it needs them.
func ShellText(text string) string {
	if strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./") == "" && text != "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
