package emulator

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"
)

const (
	// objectsPrefix begins the paths of the pages of objects.
	objectsPrefix = "/objects/"
	// objectHistory and objectRequests are how many events and requests the page of an object lists.
	objectHistory, objectRequests = 100, 50
)

// objectPage is what the page of an object, of a fleet, or of all objects of a kind shows. As on the status page, there are no
// keys, signed URLs, prompts, or logs, and also no scripts.
type objectPage struct {
	pageHeader
	What     string // What kind of object it is.
	Heading  string // What its state is.
	Row      *statusRow
	Created  string
	Parents  []relation
	JSON     string
	By, Note string // The operation that returns the JSON, and what about it is worth knowing.
	Import   string
	History  []shownEvent
	Earlier  int // How many events are left out.
	Children []*statusKind
	Requests []objectRequest
	Others   int // How many requests are left out.
	Actions  []statusAction
	// Previous and Next are the addresses of other pages of a list.
	List           *statusKind
	Previous, Next string
}

type shownEvent struct{ At, Age, Text, Class string }

// objectRequest is a request that named an object.
type objectRequest struct{ Operation, Path, Result, Class, At string }

// importBlock is what imports an object. Some objects have none.
type importBlock struct{ resource, label, id string }

// String is the block, or empty.
func (b importBlock) String() string {
	if b.resource == "" {
		return ""
	}
	return fmt.Sprintf("import {\n  to = %s.%s\n  id = %s\n}", b.resource, resourceLabel(b.label), quoteHCL(b.id))
}

// resourceLabel makes a name of a resource from any text.
func resourceLabel(text string) string {
	label := strings.Trim(strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9':
			return c
		case c >= 'A' && c <= 'Z':
			return c - 'A' + 'a'
		}
		return '_'
	}, text), "_")
	if label == "" || label[0] >= '0' && label[0] <= '9' {
		label = "this_" + label
	}
	return strings.TrimSuffix(label, "_")
}

// quoteHCL is a string of a configuration. Its text has no control characters.
func quoteHCL(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{").Replace(text) + `"`
}

// objectPage reads what a path under objectsPrefix shows. A path that leads nowhere has a page that says so.
func (e *Emulator) objectPage(address *url.URL) (page, error) {
	var p *objectPage
	head := e.pageHeader("Nothing is here")
	err := e.store.db.View(func(tx *bolt.Tx) error {
		who, err := manager(tx)
		if err != nil {
			return err
		}
		s := readObjects(&request{e: e, tx: tx, now: head.Now, who: who})
		if s.err != nil {
			return s.err
		}
		kind, id, one := strings.Cut(strings.TrimPrefix(address.Path, objectsPrefix), "/")
		switch {
		case kind == objectFleets:
			p = s.fleetPage(id)
		case s.kind(kind) != nil && one:
			p, err = s.onePage(kind, id)
		case s.kind(kind) != nil:
			p = s.listPage(s.kind(kind), address.Query())
		}
		return err
	})
	if p == nil {
		head.Missing = true
		return &objectPage{pageHeader: head}, err
	}
	head.Title = p.Title
	p.pageHeader = head
	return p, err
}

// onePage is the page of an object, or nil.
func (s *statusObjects) onePage(kind, id string) (*objectPage, error) {
	all := objectKinds()
	k := all[slices.IndexFunc(all, func(k objectKind) bool { return k.id == kind })]
	rows := s.kind(kind).all
	at := slices.IndexFunc(rows, func(r statusRow) bool { return r.ID == id })
	if at < 0 {
		return nil, nil
	}
	row := rows[at]
	d, err := k.detail(s.request, row.key)
	if err != nil {
		return nil, err
	}
	p := &objectPage{
		pageHeader: pageHeader{Title: row.Name}, What: k.one, Heading: k.heading, Row: &row, Parents: s.present(row.relations), By: d.operation, Note: d.note, Import: d.imports.String(),
		Children: s.childrenOf(row.objectRef), Actions: d.actions,
	}
	if row.Owner != "" && !slices.ContainsFunc(p.Parents, func(to relation) bool { return to.Name == row.Owner }) { // The organization has no page.
		p.Parents = append(p.Parents, relation{"Owner", objectRef{Name: row.Owner}})
	}
	if row.CreatedAt != 0 {
		p.Created = row.At.Exact + ", " + clockAge(row.CreatedAt, s.now)
	}
	if d.body != nil {
		if p.JSON, err = indented(d.body); err != nil {
			return nil, err
		}
	}
	d.sorted()
	for _, event := range d.history[:min(len(d.history), objectHistory)] {
		shown := shownEvent{Text: event.Text, Class: event.Class, At: "Time unknown"}
		if event.at != 0 {
			shown.At, shown.Age = objectTimeOf(event.at).Exact, clockAge(event.at, s.now)
		}
		p.History = append(p.History, shown)
	}
	p.Earlier = len(d.history) - len(p.History)
	p.Requests, p.Others = s.e.journal.matching(func(x *Entry) bool {
		return x.names(append(d.names, row.ID)) || x.names(d.namesOfOwner) && x.owner() == d.owner
	})
	return p, nil
}

// userInfo is a user or a password in a URL, such as that of a repository.
var userInfo = regexp.MustCompile(`://[^/\s"@]+@`)

// indented is JSON for reading, as the API writes it, without passwords in URLs.
func indented(body any) (string, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(body)
	return userInfo.ReplaceAllString(strings.TrimSpace(text.String()), "://"+notShown+"@"), err
}

// fleetPage is the page of a fleet, or nil.
func (s *statusObjects) fleetPage(id string) *objectPage {
	computers := s.kind(objectComputers)
	members := slices.DeleteFunc(slices.Clone(computers.all), func(r statusRow) bool {
		fleet, ok := r.fleet()
		return !ok || fleet.ID != id
	})
	if len(members) == 0 {
		return nil
	}
	fleet, _ := members[0].fleet()
	row := fleetRow(fleet, members)
	p := &objectPage{
		pageHeader: pageHeader{Title: row.Name}, What: "Fleet", Heading: computers.Heading, Row: &row, Children: s.childrenOf(fleet), Created: row.At.Exact + ", " + clockAge(row.CreatedAt, s.now),
		Note: "A fleet is not an object of the API. Its computers were created by bulkCreateComputers with the same name prefix.",
	}
	owner, prefix, _ := strings.Cut(id, "/")
	imports := importBlock{"agentyard_computer_fleet", prefix, prefix}
	for _, to := range members[0].relations {
		if to.What == "Owner" {
			p.Parents = append(p.Parents, to)
			if to.Kind == objectAccounts {
				imports.id = owner + "/" + prefix
			}
		}
	}
	p.Import = imports.String()
	return p
}

// childrenOf are the objects that belong to one, by kind.
func (s *statusObjects) childrenOf(parent objectRef) (children []*statusKind) {
	for _, k := range s.kinds {
		of := &statusKind{Name: k.Name, ID: k.ID, Heading: k.Heading, Moved: k.Moved, List: k.List + "?of=" + queryText(parent.Kind+"/"+parent.ID), all: k.belonging(parent)}
		group := groupFleets
		if parent.Kind == objectFleets {
			group = nil
		}
		if of.finish(group); of.Total > 0 {
			children = append(children, of)
		}
	}
	return children
}

// belonging are the rows of objects that belong to one.
func (k *statusKind) belonging(parent objectRef) (rows []statusRow) {
	for i := range k.all {
		if slices.ContainsFunc(k.all[i].relations, func(to relation) bool { return to.is(parent) }) {
			rows = append(rows, k.all[i])
		}
	}
	return rows
}

// present leaves only the names of related objects that are gone, and names those that are known by their IDs.
func (s *statusObjects) present(relations []relation) (shown []relation) {
	for _, to := range relations {
		if k := s.kind(to.Kind); k != nil {
			at := slices.IndexFunc(k.all, func(r statusRow) bool { return r.ID == to.ID })
			if at < 0 {
				to.Kind = ""
			} else {
				to.Name = k.all[at].Name
			}
		}
		shown = append(shown, to)
	}
	return shown
}

// listPage is a page of the list of all objects of a kind, or of those that belong to one object; nil if there is no such page.
func (s *statusObjects) listPage(k *statusKind, query url.Values) *objectPage {
	p := &objectPage{pageHeader: pageHeader{Title: k.Name}, List: &statusKind{Name: k.Name, ID: k.ID, Heading: k.Heading, Moved: k.Moved, all: k.all}}
	address := url.Values{}
	if of := query.Get("of"); of != "" {
		kind, id, _ := strings.Cut(of, "/")
		parent := objectRef{Kind: kind, ID: id, Name: id}
		p.List.all = k.belonging(parent)
		address.Set("of", of)
		if len(p.List.all) > 0 {
			relations := s.present(p.List.all[0].relations)
			parent = relations[slices.IndexFunc(relations, func(to relation) bool { return to.ID == id })].objectRef
			p.Parents = []relation{{"Of", parent}}
		}
		p.Title += " of " + parent.Name
	}
	p.List.finish(nil)
	rows := p.List.all // In the order of finish, which sorts in place.
	page, err := strconv.Atoi(query.Get("page"))
	if err != nil {
		page = 1
	}
	if page < 1 || page > 1 && page-1 > (len(rows)-1)/statusMore {
		return nil
	}
	from := (page - 1) * statusMore
	to := min(len(rows), from+statusMore)
	p.List.Rows, p.List.More, p.List.Rest = rows[from:to], nil, 0
	turn := func(to int) string {
		address.Set("page", strconv.Itoa(to))
		return k.List + "?" + address.Encode()
	}
	if page > 1 {
		p.Previous = turn(page - 1)
	}
	if to < len(rows) {
		p.Next = turn(page + 1)
	}
	return p
}

// matching returns the newest requests that match, and how many more there are.
func (j *Journal) matching(matches func(*Entry) bool) (requests []objectRequest, others int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, x := range slices.Backward(j.entries) {
		switch {
		case !matches(x):
		case len(requests) < objectRequests:
			requests = append(requests, objectRequestOf(x))
		default:
			others++
		}
	}
	return requests, others
}

// names reports whether a parameter of the request is one of some texts, ignoring case.
func (x *Entry) names(texts []string) bool {
	is := func(value string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return text != "" && strings.EqualFold(text, value) })
	}
	pattern := strings.Split(x.Route, "/")
	for i, segment := range strings.SplitN(x.Path, "/", len(pattern)) { // The last one may be an address.
		if strings.HasPrefix(pattern[i], "{") && is(segment) {
			return true
		}
	}
	if x.Query == "" {
		return false
	}
	query, _ := url.ParseQuery(x.Query)
	for _, values := range query {
		if slices.ContainsFunc(values, is) {
			return true
		}
	}
	return false
}

// owner is the principal whose objects a request is about.
func (x *Entry) owner() string {
	query, _ := url.ParseQuery(x.Query)
	return cmp.Or(query.Get("serviceAccountId"), x.Principal)
}

func objectRequestOf(x *Entry) objectRequest {
	r := objectRequest{Operation: x.Operation, Path: x.Method + " " + shortText(x.Path), Result: x.result(), Class: x.class(), At: x.Time.UTC().Format("2006-01-02 15:04:05")}
	if x.Fault != "" {
		r.Result += ", " + x.Fault
	}
	return r
}
