package lifecycle

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
)

// shownBy are the results that show an argument that no import returns.
var shownBy = map[string]string{"agentyard_api_key expires_in": "expires_at", "agentyard_environment make_organization_default": "is_default"}

// sentAs is what is sent for an argument that nothing returns, if it is not the argument itself. It is empty if only the provider knows it.
var sentAs = map[string]string{
	"agentyard_api_key rotation":             "", // The provider decides when a key is due.
	"agentyard_session system_prompt":        `"systemPrompt":"Be kind."`,
	"agentyard_session system_prompt_append": `"systemPrompt":{"type":"preset","preset":"agent","append":"Be brief."}`,
	"agentyard_wiki_run triggers":            "", // They only replace the run.
}

// others are other values of arguments that replace the object, where otherThan finds none.
var others = map[string]string{
	"agentyard_computer provider_type": "managed-a", "agentyard_computer source.kind": "execution-template", "agentyard_computer_fleet provider_type": "managed-a",
	"agentyard_environment scope": "user", "agentyard_session computer_id": "$managed", "agentyard_session session_settings.tool_execution_mode": "script_only",
	"agentyard_wiki_run commit_hash": "facade0",
}

// newIDs are the types with a new ID after some updates in place.
var newIDs = map[string]string{"agentyard_api_key": "a rotation makes another key"}

// argument is an argument of a resource, which may be nested, and what the schema says about it.
type argument struct {
	path                           string
	isOptional, isObject, replaces bool
	// byDefault is the default, or nil. Only the provider knows such an argument.
	byDefault any
	// sentDefault is the default of a text that the service knows, or nil.
	sentDefault any
	// isKept means that the service's value stays when the argument is removed.
	isKept bool
}

var (
	defaultsTo = regexp.MustCompile("Defaults to `([^`]+)`")
	forcesNew  = regexp.MustCompile(`Changing (this|any value) forces a new`)
)

func argumentsOf(at string, attributes []*tfprotov6.SchemaAttribute, replaces bool) (all []argument) {
	for _, a := range attributes {
		if !a.Optional && !a.Required {
			continue
		}
		one := argument{path: at + a.Name, isOptional: a.Optional, replaces: replaces || forcesNew.MatchString(a.Description)}
		one.isKept = a.Computed && !strings.Contains(a.Description, "or removing this")
		if said := defaultsTo.FindStringSubmatch(a.Description); said != nil && a.Computed {
			if one.isKept = false; said[1] == "true" || said[1] == "false" {
				one.byDefault = said[1] == "true"
			} else {
				one.sentDefault = said[1]
			}
		}
		one.isObject = a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle
		if all = append(all, one); one.isObject {
			all = append(all, argumentsOf(one.path+".", a.NestedType.Attributes, one.replaces)...)
		}
	}
	return all
}

// covers reports whether a path is an argument or in it. The empty path covers all.
func covers(outer, path string) bool {
	return outer == "" || path == outer || strings.HasPrefix(path, outer+".")
}

// hasAll reports whether a value has everything of another one. Other attributes and the order do not count.
func hasAll(got, want any) bool {
	switch want := want.(type) {
	case int:
		return got == float64(want)
	case int64:
		return got == float64(want)
	case map[string]any:
		has, isObject := got.(map[string]any)
		for name := range want {
			isObject = isObject && hasAll(has[name], want[name])
		}
		return isObject
	case []any:
		has, _ := got.([]any)
		return len(has) == len(want) && !slices.ContainsFunc(want, func(one any) bool {
			return !slices.ContainsFunc(has, func(other any) bool { return hasAll(other, one) })
		})
	}
	return reflect.DeepEqual(got, want)
}

var afterUnderscore = regexp.MustCompile(`_[a-z]`)

// camelJSON returns a value as JSON with names in camel case.
func (l *life) camelJSON(v any) string {
	l.Helper()
	text, err := json.Marshal(v)
	check.Must(l.T, err)
	return afterUnderscore.ReplaceAllStringFunc(string(text), func(s string) string { return strings.ToUpper(s[1:]) })
}

// life is one resource whose arguments are set and removed.
type life struct {
	*testing.T
	*acctest.Organization
	specimens.Resource
	arguments []argument
	i         *acctest.Instance
	requests  *acctest.Sent
	sent      []string // The methods and bodies of the last apply.
}

func newLife(t *testing.T, r specimens.Resource) *life {
	t.Helper()
	requests := &acctest.Sent{Path: "/api/v0"}
	o := acctest.NewOrganization(t, acctest.New(t, requests.Option, visibleAtOnce))
	schema := acctest.NewProcess(t, o.Env, nil).Schemas().ResourceSchemas[r.Type]
	return &life{T: t, Organization: o, Resource: r, arguments: argumentsOf("", schema.Block.Attributes, false), requests: requests, i: o.NewInstance(t, r.Type)}
}

func (l *life) apply(config acctest.Values) acctest.Outcome {
	l.Helper()
	l.requests.Take()
	id := l.i.ID()
	out := l.Apply(l.T, l.i, config)
	if l.sent = l.requests.Take(); out.Action == acctest.ActionUpdate && l.i.ID() != id && newIDs[l.Type] == "" {
		l.Errorf("the update in place made %s of %s", l.i.ID(), id)
	}
	return out
}

// mustDo applies a configuration, and expects an action and an empty plan afterwards.
func (l *life) mustDo(action acctest.Action, config acctest.Values) {
	l.Helper()
	l.apply(config).MustDo(l.T, action)
	l.Plan(l.T, l.i, config).MustDo(l.T, acctest.ActionNone)
}

func (l *life) state() map[string]any {
	l.Helper()
	return acctest.Plain(l.T, l.i.State).(map[string]any)
}

// imported is the same object in another state.
func (l *life) imported() *life {
	l.Helper()
	copied := *l
	copied.i = l.NewInstance(l.T, l.Type)
	acctest.NewProcess(l.T, l.Env, nil).Import(copied.i, l.ImportIDFrom(l.i.Attribute)).MustSucceed(l.T)
	return &copied
}

func (l *life) isImported(path string) bool {
	return !slices.ContainsFunc(l.NotImported, func(name string) bool { return covers(name, path) })
}

// mustHave compares the arguments at a path of a configuration with the state, and with what the service has: an import returns it, or,
// if the service does not, the last apply sent what differs from the configuration before.
func (l *life) mustHave(at string, config, before acctest.Values) {
	l.Helper()
	state, imported := l.state(), l.imported().state()
	for _, a := range l.arguments {
		want := valueAt(config, a.path)
		if a.isObject || want == nil || !covers(at, a.path) {
			continue
		}
		if got := valueAt(state, a.path); !hasAll(got, want) {
			l.Errorf("%s is %v in the state, want %v", a.path, got, want)
		}
		got := valueAt(imported, a.path)
		if a.byDefault == nil && l.isImported(a.path) {
			if !hasAll(got, want) {
				l.Errorf("%s is %v at the service, want %v", a.path, got, want)
			}
			continue
		}
		if got != a.byDefault {
			l.Errorf("%s is %v after an import, want %v", a.path, got, a.byDefault)
		}
		isChanged := a.byDefault == nil && !reflect.DeepEqual(want, valueAt(before, a.path))
		if result := shownBy[l.Type+" "+a.path]; result != "" {
			if shown := imported[result]; shown == nil || shown == false {
				l.Errorf("%s is %v, although %s is %v", result, shown, a.path, want)
			}
		} else if isChanged && !l.isSent(a.path, want) {
			l.Errorf("%s is not sent: %s", a.path, l.sent)
		}
	}
}

func (l *life) isSent(path string, want any) bool {
	for name, text := range sentAs {
		if typeName, at, _ := strings.Cut(name, " "); typeName == l.Type && covers(at, path) {
			return strings.Contains(strings.Join(l.sent, " "), text)
		}
	}
	var list []any
	if text, isText := want.(string); isText && json.Unmarshal([]byte(text), &list) == nil {
		want = list // The API has JSON as such.
	}
	part := l.camelJSON(map[string]any{path[strings.LastIndex(path, ".")+1:]: want})
	return slices.ContainsFunc(l.sent, func(request string) bool {
		var body any
		_, text, _ := strings.Cut(request, " ")
		return json.Unmarshal([]byte(text), &body) == nil && strings.Contains(l.camelJSON(body), part[1:len(part)-1])
	})
}

// otherThan returns another value, which may be invalid; nil for a number or an object, whose attributes are arguments of their own.
func (l *life) otherThan(v any, path string) any {
	switch v := v.(type) {
	case bool:
		return !v
	case string:
		other := v + "b"
		if uuid.Validate(v) == nil {
			other = otherID(v)
		} else if strings.HasPrefix(v, "[") { // JSON.
			other = strings.Replace(v, `":"`, `":"b`, 1)
		}
		if other = cmp.Or(others[l.Type+" "+path], other); other != v { // Otherwise, another specimen has another value.
			return l.In(specimens.Values{path: other})[path]
		}
	case []any:
		if len(v) > 0 {
			return append([]any{l.otherThan(v[0], path)}, v[1:]...)
		}
	case map[string]any:
		other := maps.Clone(v)
		for key := range v {
			other[key] = l.otherThan(v[key], path)
		}
		return other
	}
	return nil
}

// mustAdopt applies the configuration of an imported object, which changes nothing at the service.
func (l *life) mustAdopt(config acctest.Values) {
	l.Helper()
	if out := l.apply(config); len(out.Errors) > 0 || out.Action == acctest.ActionReplace || len(l.sent) > 0 {
		l.Errorf("imported: %s; sent %s", out, l.sent)
	}
	l.Plan(l.T, l.i, config).MustDo(l.T, acctest.ActionNone)
}

// The service has every argument after a create, and every change after an update in place. What forces a new object does.
func TestResource_allArguments(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, _ *acctest.Organization) {
		lives := map[string][]specimens.Values{"fewest": {r.Least, r.Changed}}
		if r.Full != nil {
			lives["all"] = []specimens.Values{r.Full, r.FullChanged}
		}
		maps.Copy(lives, r.More)
		for name, configs := range lives {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				l := newLife(t, r)
				config := l.In(configs[0])
				l.mustDo(acctest.ActionCreate, config)
				l.mustHave("", config, nil)
				for _, a := range l.arguments {
					other := l.otherThan(valueAt(config, a.path), a.path)
					if other == nil || !a.replaces || a.isObject {
						continue
					}
					out := l.Plan(t, l.i, with(config, a.path, other))
					isExcluded := len(out.Errors) > 0 && !out.Refuses(regexp.MustCompile("^"+regexp.QuoteMeta(a.path)+"$"), "") // By another argument.
					if !isExcluded && (len(out.Errors) > 0 || out.Action != acctest.ActionReplace) {
						t.Errorf("%s = %v does not replace it: %s", a.path, other, out)
					}
				}
				if !r.ImportPlansAnUpdate && config["make_organization_default"] == nil { // A default is set in any apply that does not know it.
					l.imported().mustAdopt(config)
				}
				for n := range configs[1:] {
					changed := l.In(configs[n+1])
					l.mustDo(acctest.ActionUpdate, changed)
					l.mustHave("", changed, l.In(configs[n]))
				}
			})
		}
	})
}

// Each optional argument is set in an object without it, and removed again: alone, or beside all others if it needs them.
func TestResource_eachArgument(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, _ *acctest.Organization) {
		configs := []specimens.Values{r.Full, r.Least} // What TestResource_allArguments creates.
		for _, name := range slices.Sorted(maps.Keys(r.More)) {
			configs = append(configs, r.More[name][0])
		}
		for _, a := range newLife(t, r).arguments {
			if !a.isOptional || r.Name != "" { // The first of a type has every argument.
				continue
			}
			t.Run(a.path, func(t *testing.T) {
				t.Parallel()
				configs := configs
				if isOn, hasDefault := a.byDefault.(bool); hasDefault {
					configs = []specimens.Values{with(r.Least, a.path, !isOn)}
				}
				for _, config := range configs {
					for _, isAlone := range []bool{true, false} {
						if valueAt(config, a.path) != nil && newLife(t, r).canSetAndRemove(a, config, isAlone) {
							return
						}
					}
				}
				t.Error("no specimen sets this to anything but what it is without. Add it to Full or More")
			})
		}
	})
}

// canSetAndRemove reports whether the configuration allows it. If not, nothing was sent.
func (l *life) canSetAndRemove(a argument, given specimens.Values, isAlone bool) bool {
	l.Helper()
	set := l.In(given)
	if isAlone {
		set = with(l.In(l.Least), a.path, valueAt(set, a.path))
	}
	unset := with(set, a.path, nil)
	if out := l.apply(unset); len(out.Errors) > 0 && len(l.sent) == 0 {
		return !isAlone && out.Refuses(regexp.MustCompile("^"+regexp.QuoteMeta(a.path)+"$"), "") // The others need it.
	}
	out := l.apply(set)
	if isRefused := len(out.Errors) > 0; len(l.sent) == 0 && (isRefused || out.Action == acctest.ActionNone) {
		return false
	}
	action := acctest.ActionUpdate
	if slices.ContainsFunc(l.arguments, func(other argument) bool {
		return other.replaces && covers(a.path, other.path) && valueAt(set, other.path) != nil
	}) {
		action = acctest.ActionReplace
	}
	out.MustDo(l.T, action)
	for _, request := range l.sent {
		var fields map[string]any
		body, isUpdate := strings.CutPrefix(request, "PATCH ")
		_ = json.Unmarshal([]byte(body), &fields) // Without fields, there is nothing to compare.
		if top, _, _ := strings.Cut(a.path, "."); isUpdate && len(fields) > 1 {
			l.Errorf("only %s changes, but it sends %s", top, body)
		}
	}
	l.Plan(l.T, l.i, set).MustDo(l.T, acctest.ActionNone)
	l.mustHave(a.path, set, unset)
	if a.isKept {
		l.mustDo(acctest.ActionNone, unset)
		l.mustHave(a.path, set, set)
		return true
	}
	sent := l.sent
	l.mustDo(action, unset)
	if sent = append(sent, l.sent...); a.byDefault != nil && len(sent) > 0 {
		l.Errorf("only the provider knows it, but it sends %s", sent)
	}
	for where, all := range map[string]*life{"in the state": l, "at the service": l.imported()} {
		if left, want := valueAt(all.state(), a.path), cmp.Or(a.byDefault, a.sentDefault); left != want {
			l.Errorf("removed, it is %v %s, want %v", left, where, want)
		}
	}
	return true
}
