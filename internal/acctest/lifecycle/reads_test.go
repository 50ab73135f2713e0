package lifecycle

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
)

// shownOtherwise are the attributes that a data source shows otherwise than the resource, with the reason.
var shownOtherwise = map[string]string{"agentyard_wiki_run page_tree": "the resource has what the configuration sets, which the service completes"}

// listedOtherwise are the types of which a list and a data source list other objects, with the reason.
var listedOtherwise = map[string]string{"agentyard_api_key": "only the data source always has revoked keys"}

// shown is a resource that was created and refreshed.
type shown struct {
	specimens.Resource
	*acctest.Organization
	offered *tfprotov6.GetProviderSchemaResponse
	state   map[string]any
}

// What data sources and lists show of a resource is what is in the state, and an import by the identity that a list shows leads to it.
func TestReads_agreeWithTheResource(t *testing.T) {
	t.Parallel()
	for _, r := range specimens.Resources {
		full, _ := r.FullOrLeast()
		variants := map[string]specimens.Values{"": r.Least, "full": full}
		for name, configs := range r.More {
			variants[name] = configs[0]
		}
		for name, config := range variants {
			t.Run(r.Title()+" "+name, func(t *testing.T) {
				t.Parallel()
				o := newOrganization(t)
				p, i := o.Created(t, r.Type, o.In(config))
				o.Plan(t, i, o.In(config)).MustSucceed(t)
				s := shown{r, o, p.Schemas(), acctest.Plain(t, i.State).(map[string]any)}
				s.testData(t)
				s.testRows(t)
				s.testList(t)
			})
		}
	}
}

// attribute returns an attribute of a data source or a list, or nil.
func attribute(schema *tfprotov6.Schema, name string) *tfprotov6.SchemaAttribute {
	for _, a := range schema.Block.Attributes {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// mustAgree compares the attributes that an object has in a data source and in the state.
func (s shown) mustAgree(t *testing.T, how string, attributes []*tfprotov6.SchemaAttribute, got map[string]any) {
	t.Helper()
	for _, a := range attributes {
		if want, isBoth := s.state[a.Name]; isBoth && a.Computed && shownOtherwise[s.Type+" "+a.Name] == "" {
			check.Is(t, fmt.Sprint(how, ": ", a.Name), got[a.Name], want)
		}
	}
}

// testData reads the data source of the same type by ID, and by name.
func (s shown) testData(t *testing.T) {
	t.Helper()
	schema := s.offered.DataSourceSchemas[s.Type]
	for _, by := range []string{"id", "name"} {
		if schema == nil || attribute(schema, by) == nil {
			continue
		}
		config := acctest.Values{by: s.state[by]}
		if account := s.state["service_account_id"]; by == "name" && account != nil {
			config["service_account_id"] = account // Another owner may have the same name.
		}
		s.mustAgree(t, "by "+by, schema.Block.Attributes, s.MustRead(t, nil, s.Type, config))
	}
}

// testRows finds the object in the data source that lists its type. The list with the same arguments sends the same requests, and has the
// same objects in the same order.
func (s shown) testRows(t *testing.T) {
	t.Helper()
	plural := s.Type + "s"
	schema, list, found := s.offered.DataSourceSchemas[plural], strings.TrimPrefix(plural, "agentyard_"), 0
	rows := slices.Clone(specimens.Data)
	if listedOtherwise[s.Type] == "" {
		rows = append(rows, specimens.Read{Type: plural, Name: "all", Values: specimens.Values{}})
	}
	for _, row := range rows {
		if schema == nil || row.Type != plural {
			continue
		}
		config, ids := s.In(row.Values), []any{}
		s.Journal().Reset()
		for _, one := range s.MustRead(t, nil, plural, config)[list].([]any) {
			one := one.(map[string]any)
			if ids = append(ids, one["id"]); one["id"] == s.state["id"] {
				s.mustAgree(t, row.Title(), attribute(schema, list).NestedType.Attributes, one)
				found++
			}
		}
		if listedOtherwise[s.Type] != "" {
			continue
		}
		requests := s.requests()
		maps.DeleteFunc(config, func(name string, _ any) bool { return attribute(s.offered.ListResourceSchemas[s.Type], name) == nil })
		p, listed := acctest.NewProcess(t, s.Env, nil), []any{}
		s.Journal().Reset()
		_, out := p.List(s.Type, config)
		out.MustSucceed(t)
		for _, identity := range p.Identities {
			listed = append(listed, identity["id"])
		}
		check.Is(t, fmt.Sprint("a list with ", config), listed, ids)
		check.Is(t, "its requests", s.requests(), requests)
	}
	if schema != nil && found == 0 {
		t.Errorf("%s does not show it", plural)
	}
}

// requests returns the operations that were requested.
func (s shown) requests() (operations []string) {
	for _, entry := range s.Journal().Entries() {
		operations = append(operations, entry.Operation)
	}
	slices.Sort(operations)
	return slices.Compact(operations)
}

// testList finds the object in the list of its type.
func (s shown) testList(t *testing.T) {
	t.Helper()
	identity := acctest.Values{}
	for _, name := range s.Identity {
		identity[name] = s.state[name]
	}
	found := 0
	for _, row := range specimens.Lists {
		if row.Type != s.Type {
			continue
		}
		p := acctest.NewProcess(t, s.Env, nil)
		listed, out := p.List(row.Type, s.In(row.Values))
		out.MustSucceed(t)
		for k := range listed {
			if !reflect.DeepEqual(p.Identities[k], identity) {
				continue
			}
			found++
			i := p.NewInstance(s.Type)
			p.ImportByIdentity(i, identity).MustSucceed(t)
			check.Is(t, row.Title(), acctest.Plain(t, listed[k]), acctest.Plain(t, i.State))
			name := cmp.Or(s.state["name"], s.state["email"], s.state["title"], s.state["repo_url"], s.state["id"])
			check.Says(t, p.Names[k], fmt.Sprint(name), fmt.Sprint(cmp.Or(s.state["commit_hash"], any("")))) // A repository has many wiki runs.
		}
		p.Limit = 1
		_, out = p.List(row.Type, s.In(row.Values))
		out.MustSucceed(t)
		check.Is(t, "listed with the limit 1", len(p.Identities), min(len(listed), 1))
	}
	if s.offered.ListResourceSchemas[s.Type] != nil && found == 0 {
		t.Errorf("the list does not show it")
	}
}

// A data source that finds an object by ID or by name needs exactly one of them. A name is case-sensitive, and no import ID, but the error
// of an import by name says which ID the object has. Such an object is in usualIDs of the package apierror, and in objectsNamed of crud.
func TestReads_byIDOrName(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	found := 0
	for _, r := range specimens.Data {
		place, isByName := r.Values["name"].(string)
		if !isByName || len(r.Values) > 1 {
			continue
		}
		found++
		name, id := o.Fill(place).(string), o.Fill(strings.TrimSuffix(place, "_name")).(string)
		other := strings.ToUpper(name)
		const exactlyOne = "Set exactly one of id and name."
		o.MustNotRead(t, nil, r.Type, nil, "", exactlyOne)
		o.MustNotRead(t, nil, r.Type, acctest.Values{"id": "a", "name": "b"}, "id", exactlyOne+" These are set: id, name.")
		o.MustNotRead(t, nil, r.Type, acctest.Values{"name": other}, "name", " not found: ", other, "the provider's API key cannot see it. Check the name")
		p := acctest.NewProcess(t, o.Env, nil)
		i := p.NewInstance(r.Type)
		p.Import(i, name).MustFail(t, "", "Cannot import", `"`+name+`" is the name of the `, id, "Import it by that ID.")
		p.Import(i, other).MustFail(t, "", "Cannot import", "look up the ID with the data source "+r.Type)
	}
	if found < 3 {
		t.Errorf("only %d data sources find an object by name", found)
	}
}

// noSuchID are the arguments for which the ID of an object that does not exist is no error at the argument, with the reason.
var noSuchID = map[string]string{
	"resource agentyard_computer service_account_id":            "the source that the specimen has may be what is missing",
	"resource agentyard_session computer_id":                    "the service does not say which value is wrong",
	"resource agentyard_api_key_revoke service_account_id":      "the service does not say which of two IDs is wrong",
	"resource agentyard_api_key_revoke key_id":                  "the same",
	"resource agentyard_ci_workflow_edit mode_id":               "the service checks it later",
	"resource agentyard_ci_workflow_edit service_automation_id": "the same",
	"resource agentyard_session_answer message_id":              "the session may lack it, or be another one",
	"data agentyard_computer service_account_id":                "the name is not found among its computers",
	"data agentyard_computers host_id":                          "no computer has it",
	"data agentyard_environment_build_diagnostics build_id":     "the environment may lack it, or be another one",
	"data agentyard_sessions computer_id":                       "no session has it",
	"data agentyard_wiki_page wiki_run_id":                      "the run may lack the page",
	"list agentyard_session computer_id":                        "no session has it",
	"ephemeral agentyard_computer_file_download computer_id":    "it may only be created in the apply",
	"ephemeral agentyard_computer_file_download session_id":     "the same",
}

// An argument with the ID of an object that does not exist is an error at the argument, and says what to do.
func TestReads_noSuchID(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	remedy := regexp.MustCompile(`([Cc]heck|Correct|Choose) \w`)
	seen := map[string]bool{}
	eachObject(acctest.NewProcess(t, o.Env, nil).Schemas(), func(object object) {
		config := o.In(object.arguments)
		for argument := range config {
			id, isText := config[argument].(string)
			name := object.kind + " " + object.typeName + " " + argument
			if !isText || seen[name] || argument != "id" && !strings.HasSuffix(argument, "_id") && (argument != "email" || object.kind != "data") {
				continue
			}
			seen[name] = true
			out, refuses := acctest.NewProcess(t, o.Env, nil).Use(object.kind, object.typeName, with(config, argument, otherID(id))), regexp.MustCompile("^"+argument+"$")
			if is := out.Refuses(refuses, ""); is == (noSuchID[name] != "") || is && (len(out.Errors) > 1 || !remedy.MatchString(out.Text())) {
				t.Errorf("%s: %s", name, out)
			}
		}
	})
	for name := range noSuchID {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// otherID returns an ID of the same form, which nothing has.
func otherID(id string) string {
	if other := id[:len(id)-1] + "0"; other != id {
		return other
	}
	return id[:len(id)-1] + "1"
}

// A name that an object outside Terraform has is refused: a create makes no second one, and a rename changes nothing.
func TestResource_nameTaken(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		at := "name"
		if r.Least[at] == nil {
			at = "name_prefix"
		}
		if r.Least[at] != "$name" {
			return
		}
		created, renamed := o.In(r.Least), o.In(r.Changed)
		_, i := o.Created(t, r.Type, created)
		o.MustNotCreate(t, r.Type, created, at, "already exists", "Nothing was created.", "terraform import ADDRESS "+r.ImportIDFrom(i.Attribute))
		check.Is(t, "objects with the name", len(o.Find(r.Listing)), 1)
		if renamed[at] == created[at] {
			return
		}
		o.Created(t, r.Type, renamed)
		o.Apply(t, i, renamed).MustFail(t, at, "409", "Another", "has this name", "choose another name")
		check.Is(t, "the name in the state", i.Attribute(at), created[at].(string))
		o.Plan(t, i, created).MustDo(t, acctest.ActionNone)
	})
}
