package statuspage

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A line about a failure names failureObjects objects, and its details list failureRows requests or objects.
const failureObjects, failureRows = 3, 100

// changePart is a part of the sentence that says what a run changed.
type changePart struct {
	Lead, Text, Path string
	Failure, Pending string // What failed, and what is not ready yet.
}

func (p changePart) String() string {
	text := p.Lead + p.Text
	for _, note := range []string{p.Failure, p.Pending} {
		if note != "" {
			text += " (" + note + ")"
		}
	}
	return text
}

// isEnd reports whether an object is gone after a change.
func (c *Change) isEnd() bool {
	return c.Verb == "deleted" || c.Verb == "revoked" || c.Verb == "removed"
}

// failure is what failed for one reason: requests, or objects.
type failure struct {
	What    string    `json:"what"`
	Why     string    `json:"why"`
	Objects []Ref     `json:"objects"`
	Count   int       `json:"count"`
	Each    []failing `json:"-"`
	next    string    // What to do, where that is certain.
	result  string    // As a run counts it.
}

// failing is one request that failed, with when and why, or an object that did.
type failing struct {
	Ref
	Text string
}

// Failed is how many objects failed, or one for requests that name none, however often a client repeated them. All numbers of failures are sums
// of it, except those of requests in the lanes.
func (f *failure) Failed() int { return max(1, len(f.Objects)) }

// First are the objects that a line names, and Others is how many it leaves out.
func (f *failure) First() []Ref { return f.Objects[:min(len(f.Objects), failureObjects)] }
func (f *failure) Others() int  { return len(f.Objects) - len(f.First()) }

// failuresOf are the requests of a run that remained failed, and the objects that did, by reason.
func failuresOf(spans []runSpan, net []*Change, objects map[string]Row) (failures []failure) {
	type object struct {
		failure int
		Ref
	}
	at, seen := map[[2]string]int{}, map[object]bool{}
	add := func(of failure, one failing) {
		key := [2]string{of.What, of.Why}
		i, known := at[key]
		if !known {
			i = len(failures)
			at[key], failures = i, append(failures, of)
		}
		f := &failures[i]
		if one.Text != "" {
			one.Text += ": " + of.Why
		}
		if f.Count++; f.Count <= failureRows {
			f.Each = append(f.Each, one)
		}
		if o := (object{i, one.Ref}); one.Name != "" && !seen[o] {
			f.Objects, seen[o] = append(f.Objects, one.Ref), true
		}
	}
	for i := range spans {
		s := &spans[i]
		if s.class != requestFailed {
			continue
		}
		one, names := failing{s.object(objects), strings.TrimSuffix(s.when()+", request ID "+s.RequestID, ", request ID ")}, strings.Split(s.Named, ", ")
		if s.Method == "POST" && s.Named != "" {
			one.Ref = Ref{Name: strings.TrimSuffix(Short(s.Named)+" of "+one.Name, " of ")}
		}
		if !s.isPartial() {
			add(failure{What: s.name(), Why: s.outcome(), next: s.next(), result: s.result()}, one)
			continue
		}
		for _, why := range s.Refusals {
			part := one
			if name, rest, _ := strings.Cut(why, ": "); slices.Contains(names, name) {
				part.Ref, why = Ref{Name: Short(name)}, rest
			}
			add(failure{What: s.name(), Why: Short(s.result() + ", " + why), next: s.next(), result: s.result()}, part)
		}
	}
	for _, c := range net {
		if c.Failure != "" {
			o := objects[c.ID]
			o.Name = c.Name
			why := strings.TrimSuffix(c.Failure+", "+o.Note, ", ")
			add(failure{What: sentence(noun(c.Kind)), Why: why, next: "Fix the cause, and apply again. The plan says whether it is replaced.", result: c.Failure}, failing{Ref: o.Ref})
		}
	}
	for i := range failures {
		f := &failures[i]
		if f.Count > f.Failed() {
			f.Why = strings.Replace(f.Why, f.result, fmt.Sprintf("%s (%d times)", f.result, f.Count), 1)
		}
		if len(f.Objects) > 1 {
			f.next = strings.Replace(f.next, "It may", "They may", 1)
		}
		if f.next != "" && ofProvider(spans[0].Entry) {
			f.Why = strings.TrimSuffix(f.Why, ".") + ". " + f.next
		}
	}
	return failures
}

// next is what to do about a request that failed; empty if that is not certain.
func (x *Entry) next() string {
	switch {
	case x.Method == "GET", x.Status == 404: // What is gone may be what somebody wanted.
	case x.isPartial():
		return "Fix the cause, and apply again."
	case x.Status == http.StatusPaymentRequired:
		return "Nothing was changed. The organization's tier may not include it."
	case x.Status >= 400 && x.Status < 500:
		return "Nothing was changed. Fix the cause, and apply again."
	case Effects[x.Operation].Verb == "created":
		return "It may or may not have been created: Terraform's output says what was found. Apply again."
	}
	return ""
}

// changesOf says what a run changed. It counts objects, not requests, and those apart that are not ready at a time.
func changesOf(net []*Change, objects map[string]Row, readyBy int64) (parts []changePart) {
	groups := map[[2]string][]*Change{} // By verb and kind.
	verbs, kinds := []string{"created", "set", "updated", "rotated"}, []string{}
	for _, c := range net {
		if !slices.Contains(verbs, c.Verb) {
			verbs = append(verbs, c.Verb)
		}
		if !slices.Contains(kinds, c.Kind) {
			kinds = append(kinds, c.Kind)
		}
		groups[[2]string{c.Verb, c.Kind}] = append(groups[[2]string{c.Verb, c.Kind}], c)
	}
	for _, verb := range verbs {
		var of []changePart
		for _, kind := range kinds {
			of = append(of, partsOf(kind, groups[[2]string{verb, kind}], objects, readyBy)...)
		}
		for i := range of {
			lead := ", "
			switch {
			case i == 0 && len(parts) == 0:
				lead = sentence(verb) + " "
			case i == 0:
				lead = " · " + verb + " "
			case i == len(of)-1 && i == 1:
				lead = " and "
			case i == len(of)-1:
				lead = ", and "
			}
			of[i].Lead = lead + of[i].Lead
		}
		parts = append(parts, of...)
	}
	return parts
}

// Effect is what an operation does to an object: a verb, and the kind of the object.
type Effect struct{ Verb, Kind string }

// Instead says that a request did something else than its operation usually does.
func (c *Change) Instead(verb, kind string) { c.Verb, c.Kind = verb, kind }

// passing are the operations that change no object for good.
var passing = []string{"cancelEnvironmentBuild", "completeFileUpload", "installComputerDeps", "interruptSession", "refreshComputer", "restartComputer"}

// Effects are what operations do.
var Effects = map[string]Effect{
	"createComputer": {"created", "computers"}, "bulkCreateComputers": {"created", "computers"}, "updateComputer": {"updated", "computers"},
	"deleteComputer": {"deleted", "computers"}, "createServiceAccount": {"created", "service-accounts"}, "updateServiceAccount": {"updated", "service-accounts"},
	"deleteServiceAccount": {"deleted", "service-accounts"}, "createApiKey": {"created", "api-keys"}, "rotateApiKey": {"rotated", "api-keys"},
	"revokeApiKey": {"revoked", "api-keys"}, "createEnvironment": {"created", "environments"}, "updateEnvironment": {"updated", "environments"},
	"createEnvironmentBuild": {"rebuilt", "environments"}, "deleteEnvironment": {"deleted", "environments"}, "setDefaultEnvironment": {"made default", "environments"},
	"createSession": {"created", "sessions"}, "updateSession": {"updated", "sessions"}, "deleteSession": {"deleted", "sessions"},
	"sendSessionMessage": {"sent a message to", "sessions"}, "setGlobalUsageLimit": {"set", "usage-limits"}, "setUserUsageLimits": {"set", "usage-limits"},
	"inviteMember": {"sent", "invitations"}, "removeMember": {"removed", "members"}, "createWikiRun": {"created", "wiki-runs"},
	"updateWikiPrivacy": {"updated", "wiki-runs"}, "deleteWikiRun": {"deleted", "wiki-runs"}, "editCiWorkflow": {"created", "ci-jobs"},
	"cancelEnvironmentBuild": {"canceled a build of", "environments"}, "completeFileUpload": {"uploaded a file to", "computers"},
	"installComputerDeps": {"installed dependencies on", "computers"}, "interruptSession": {"interrupted", "sessions"},
	"refreshComputer": {"refreshed", "computers"}, "restartComputer": {"restarted", "computers"},
}

// netChanges are the changes of a run, one for each object. An object that it created and deleted has none.
func netChanges(spans []runSpan, objects map[string]Row, now time.Time) []*Change {
	last := map[Ref]*Change{}
	var net []*Change
	for i := range spans {
		changes := spans[i].Changes
		if effect := Effects[spans[i].Operation]; changes == nil && spans[i].class == requestOK && slices.Contains(passing, spans[i].Operation) {
			o := spans[i].object(objects)
			changes = []Change{{Verb: effect.Verb, Ref: Ref{effect.Kind, o.ID, o.Name}}}
		}
		for _, c := range changes {
			key := Ref{Kind: c.Kind, ID: c.ID}
			before := last[key]
			if before == nil {
				net, last[key] = append(net, &c), &c
				continue
			}
			if c.Until == 0 && !c.isEnd() {
				c.Until, c.Failure = before.Until, before.Failure
			}
			if before.Verb == "created" {
				c.Verb = map[bool]string{false: before.Verb}[c.isEnd()]
			}
			*before = c
		}
	}
	for _, c := range net {
		if c.Until > now.UnixMilli() {
			c.Failure = "" // It has not happened yet.
		}
	}
	return slices.DeleteFunc(net, func(c *Change) bool { return c.Verb == "" })
}

// partsOf names the changed objects of a kind, or counts them if they are many. Those that failed are first.
func partsOf(kind string, changes []*Change, objects map[string]Row, readyBy int64) (parts []changePart) {
	if len(changes) == 0 {
		return nil
	}
	name, list := noun(kind), objectsPrefix+kind
	if changes[0].isEnd() || objects == nil {
		list = ""
	}
	failed := slices.DeleteFunc(slices.Clone(changes), func(c *Change) bool { return c.Failure == "" })
	others := slices.DeleteFunc(changes, func(c *Change) bool { return c.Failure != "" })
	one := func(c *Change) {
		parts = append(parts, changePart{Text: c.Name, Failure: c.Failure})
		if objects[c.ID].Kind != "" && list != "" { // A limit has the ID of a member, who may still be there.
			parts[len(parts)-1].Path = c.Path()
		}
		parts[0].Lead = name + " "
	}
	if len(failed) > 3 {
		parts = append(parts, changePart{Text: quantity(len(failed), name), Path: list, Failure: failed[0].Failure})
	} else {
		for _, c := range failed {
			one(c)
		}
	}
	switch text := rangeOf(others); {
	case len(others) == 1 && len(failed) <= 3:
		one(others[0])
	case text != "":
		parts = append(parts, changePart{Lead: name + "s ", Text: text, Path: list})
	case len(others) > 0 && len(parts) > 0:
		parts = append(parts, changePart{Text: quantity(len(others), "other "+name), Path: list})
	case len(others) > 0:
		parts = append(parts, changePart{Text: quantity(len(others), name), Path: list})
	}
	parts[len(parts)-1].Pending = pending(kind, others, readyBy)
	return parts
}

// pending says how many objects are not ready yet.
func pending(kind string, changes []*Change, readyBy int64) string {
	left := len(slices.DeleteFunc(slices.Clone(changes), func(c *Change) bool { return c.Until <= readyBy }))
	what := cmp.Or(map[string]string{"computers": "being provisioned", "environments": "being built"}[kind], "not ready yet")
	switch ready := len(changes) - left; {
	case left > 0 && ready > 0:
		return fmt.Sprintf("%d ready, %d %s", ready, left, what)
	case left > 0:
		return what
	}
	return ""
}

// rangeOf is the first and the last of names that count up, such as ci-1, ci-2, and ci-3; empty if the names do not.
func rangeOf(changes []*Change) string {
	var prefix string
	var numbers []int
	for i, c := range changes {
		stem := strings.TrimRight(c.Name, "0123456789")
		number, err := strconv.Atoi(c.Name[len(stem):])
		if err != nil || stem+strconv.Itoa(number) != c.Name || i > 0 && stem != prefix {
			return ""
		}
		prefix, numbers = stem, append(numbers, number)
	}
	slices.Sort(numbers)
	n := len(numbers)
	if n < 2 || n != numbers[n-1]-numbers[0]+1 || len(slices.Compact(numbers)) != n {
		return ""
	}
	return fmt.Sprintf("%s%d to %s%d", prefix, numbers[0], prefix, numbers[n-1])
}

// unchanged is what a run did if it changed nothing for good.
func unchanged(spans []runSpan) string {
	var names []string
	reads := true
	for i := range spans {
		s := &spans[i]
		reads = reads && s.Method == "GET"
		if s.Method != "GET" && s.class == requestOK && !slices.Contains(names, s.name()) {
			names = append(names, s.name())
		}
	}
	switch {
	case reads:
		return "Only reads"
	case names == nil:
		return "Nothing changed"
	}
	return Short(strings.Join(names, ", "))
}

// sentence begins with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// noun is the name of one object of a kind.
func noun(kind string) string {
	return strings.NewReplacer("api-", "API ", "ci-", "CI ", "-", " ").Replace(strings.TrimSuffix(kind, "s"))
}
