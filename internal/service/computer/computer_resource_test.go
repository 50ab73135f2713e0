package computer_test

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A failed creation is tainted. It is not protected, because it could not be replaced then.
func TestComputer_failedProvisioningNamesTheStepAndIsReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.FailProvisioning(emulator.FailStep{Name: "broken", Step: "clone-repos", Error: "the repository refuses the credentials", Times: 1})
	config := acctest.Values{"name": "broken", "repos": []any{"https://git.example/acme/app"}, "deletion_protection": true}
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, config).MustFail(t, "", "Computer failed to provision", "refuses the credentials", "the next apply replaces it")
	e.Apply(t, i, config).MustDo(t, acctest.ActionReplace)
	if got := only(t, e); got.ID != i.ID() || got.Status != "active" || i.Attribute("status") != "active" {
		t.Errorf("the emulator holds %+v, the state %s", got, i.State)
	}
	e.Plan(t, i, nil).MustFail(t, "", "Cannot destroy protected computer")
}

func TestComputer_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	many := slices.Repeat([]any{"https://git.example/a"}, 21)
	repo := "repos[0]"
	source := func(kind string, more map[string]any) acctest.Values {
		fields := map[string]any{"kind": kind}
		maps.Copy(fields, more)
		return acctest.Values{"source": fields}
	}
	in := func(name string) string { return "source." + name }
	draft := map[string]any{"workstream_id": "1", "creation_session_id": hostA, "first_turn_id": hostA}
	for _, tc := range []struct {
		values   acctest.Values
		at, want string
	}{
		{acctest.Values{"name": ""}, "name", "name must be 1 to 63 characters long"},
		{acctest.Values{"host_id": "not-a-uuid"}, "host_id", "must be a UUID"},
		{acctest.Values{"remote_user": strings.Repeat("u", 64)}, "remote_user", "remote_user must be 1 to 63 characters long"},
		{acctest.Values{"repos": many}, "repos", "repos list must contain at most 20 elements"},
		{acctest.Values{"repos": []any{"acme/app"}}, repo, "repos[0] must be an absolute URI"},
		{acctest.Values{"repos": []any{"https://git.example/" + strings.Repeat("a", 2048)}}, repo, "repos[0] must be at most 2048 characters long"},
		{source("image", nil), in("kind"), "source.kind must be \"template\", \"execution-template\", or \"computer\", not \"image\""},
		{source("computer", map[string]any{"source_computer_id": "x", "template_id": "t"}), in("template_id"), `source of kind "computer" cannot have template_id`},
		{source("template", map[string]any{"template_id": "t"}), in("is_listed"), `source of kind "template" requires is_listed`},
		{source("template", map[string]any{"template_id": "t", "is_listed": true, "software_draft": draft}), in("software_draft.workstream_id"), "must be a UUID"},
		{acctest.Values{"timeouts": map[string]any{"create": "0s"}}, "timeouts.create", "timeouts.create must be longer than 0s"},
	} {
		config := acctest.Values{"name": "n"}
		maps.Copy(config, tc.values)
		e.Plan(t, e.NewInstance(t, computerType), config).MustInclude(t, tc.at, tc.want)
	}
	mustBeSilent(t, e)
}

func TestComputer_errorsOfTheService(t *testing.T) {
	t.Parallel()
	const create = "Cannot create computer"
	for name, tc := range map[string]struct {
		values acctest.Values
		at     string
		want   []string
	}{
		"unknown template": {values: acctest.Values{"source": map[string]any{"kind": "template", "template_id": "unknown", "is_listed": true}}, want: []string{create, "404", "check the IDs"}},
		"unknown account":  {values: acctest.Values{"service_account_id": "sa_unknown"}, at: "service_account_id", want: []string{create, "404", `No service account with the ID "sa_unknown"`}},
		"unknown template and account": {
			values: acctest.Values{"service_account_id": "sa_unknown", "source": map[string]any{"kind": "template", "template_id": "unknown", "is_listed": true}}, want: []string{create, "404"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := acctest.Values{"name": "n"}
			maps.Copy(config, tc.values)
			mustCreateNothing(t, e, e.NewInstance(t, computerType), config).MustFail(t, tc.at, tc.want...)
		})
	}
}

// A plan shows what is changed, and no other computer of a fleet.
func TestComputer_plansShowWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := func(name string) acctest.Values {
		return acctest.Values{"name": name, "repos": []any{"https://git.example/acme/app"}}
	}
	p, i := e.Created(t, computerType, config("before"))
	check.Is(t, "a rename", p.Changes(i, config("after")), []string{"name"})

	for _, tc := range []struct{ config, known acctest.Values }{
		{config("new"), acctest.Values{"install_session_id": nil, "computer_source": nil}},
		{acctest.Values{"name": "new", "auto_install_deps": true}, acctest.Values{"computer_source": nil}},
		{
			acctest.Values{"name": "new", "source": map[string]any{"kind": "computer", "source_computer_id": i.ID()}},
			acctest.Values{"install_session_id": nil, "computer_source": map[string]any{"kind": "computer", "computer_id": i.ID(), "template_id": nil}},
		},
	} {
		planned := map[string]tftypes.Value{}
		check.Must(t, p.Plan(p.NewInstance(computerType), tc.config).Planned.As(&planned))
		for _, name := range []string{"host_id", "install_session_id", "computer_source"} {
			if want, ok := tc.known[name]; planned[name].IsFullyKnown() != ok || ok && !reflect.DeepEqual(acctest.Plain(t, planned[name]), want) {
				t.Errorf("%v: %s is %s", tc.config, name, planned[name])
			}
		}
	}

	_, i = e.Created(t, fleetType, fleetOf(5))
	shows := func(quantity int, want ...string) {
		t.Helper()
		var changed []string
		for _, at := range acctest.NewProcess(t, e, nil).Changes(i, fleetOf(quantity)) {
			computer, _, _ := strings.Cut(at, "].")
			changed = append(changed, strings.TrimSuffix(computer, "]"))
		}
		check.Is(t, "the changes", slices.Compact(changed), want)
	}
	shows(6, "computers", `computers["web-6"`, "quantity")
	shows(4, "computers", "quantity") // What is removed is in neither.
	deleteComputers(e, "web-2")
	shows(5, `computers["web-2"`)
}

// To a key whose role is too low, the service returns 404 for each computer of a service account, although it exists.
func TestComputer_aKeyWithATooLowRole(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{computerType: {"name": "a"}, fleetType: fleetOf(2)} {
		e := acctest.New(t)
		_, account := e.ServiceAccountKey()
		config["service_account_id"] = account
		_, i := e.Created(t, typeName, config)
		key := e.MemberKey("user@agentyard.example", emulator.RoleUser)
		before := len(computers(e))
		for _, run := range []func(*acctest.Process) acctest.Outcome{
			func(p *acctest.Process) acctest.Outcome { return p.Plan(i, config) },
			func(p *acctest.Process) acctest.Outcome { return p.Destroy(i) },
		} {
			out := run(acctest.NewProcess(t, e, acctest.Values{"api_key": key, "max_retries": 0}))
			out.MustFail(t, "", "403", "Manager")
			if i.State.IsNull() || len(computers(e)) != before {
				t.Errorf("%s: %d computers are left, and the state is %s", typeName, len(computers(e)), i.State)
			}
		}
		// If the account itself is gone, so are its computers.
		e.API(http.MethodDelete, "/api/v0/service-accounts/"+account, nil, nil)
		if out := acctest.NewProcess(t, e, nil).Destroy(i); len(out.Errors) > 0 {
			t.Errorf("%s: %v", typeName, out)
		}
	}
}

// The API key belongs to the service account, so the computer has an owner without any configuration. The same key imports it, and the
// owner that is then configured changes nothing.
func TestComputer_withTheKeyOfAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	i, imported := p.NewInstance(computerType), p.NewInstance(computerType)
	p.Apply(i, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionCreate)
	if i.Attribute("owner_id") != account || i.Attribute("service_account_id") != "" {
		t.Errorf("the state is %s", i.State)
	}
	p.Import(imported, i.ID()).MustSucceed(t)
	p.Plan(imported, acctest.Values{"name": "mine", "service_account_id": account}).MustDo(t, acctest.ActionUpdate)
	for _, one := range []*acctest.Instance{i, imported} {
		p.Plan(one, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionNone)
	}
	p.Apply(i, acctest.Values{"name": "renamed"}).MustDo(t, acctest.ActionUpdate)
}

func TestComputer_takenHostID(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	newComputer(e, map[string]any{"name": "holder", "provider": "byom", "hostId": hostA})
	const taken = "Another computer may have this host_id. To find it, use the data source agentyard_computers with host_id."
	config := acctest.Values{"name": "a", "provider_type": "byom", "host_id": hostA}
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, config).MustFail(t, "host_id", "createComputer", "409", taken)

	e.MustApply(t, i, acctest.Values{"name": "a", "provider_type": "byom"})
	begin := e.Now()
	e.Apply(t, i, config).MustFail(t, "host_id", "updateComputer", "409", taken)
	config["name"] = "b"
	e.Apply(t, i, config).MustFail(t, "host_id", taken)
	if e.Now().Sub(begin) > time.Second {
		t.Error("a host ID that stays taken is tried again")
	}
}

// Another rename or deletion of the same apply frees the name a moment later.
func TestComputer_renameWaitsForTheName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p, i := e.Created(t, computerType, acctest.Values{"name": "a", "provider_type": "byom"})
	e.Refuse("updateComputer", 409, 5)
	p.Apply(i, acctest.Values{"name": "b", "provider_type": "byom"}).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "the computer's name", only(t, e).Name, "b")
}

func TestComputer_renameToATakenName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	newComputer(e, map[string]any{"name": "taken", "provider": "byom"})
	p, i := e.Created(t, computerType, acctest.Values{"name": "a", "provider_type": "byom"})
	begin := e.Now()
	p.Apply(i, acctest.Values{"name": "taken", "provider_type": "byom"}).MustFail(t, "name", "Another computer has this name. If this run renames or deletes that computer, apply again.", "apply a temporary name", "for_each", "-parallelism")
	if took := e.Now().Sub(begin); took > 11*time.Second {
		t.Errorf("it was tried for %v", took)
	}
	// Other updates are not tried again.
	e.Refuse("updateComputer", 409, 1)
	p.Apply(i, acctest.Values{"name": "a", "provider_type": "byom", "remote_user": "x"}).MustFail(t, "", "409")
}

// For a software draft that was used, the service returns the computer that was created from it. That computer may belong to
// someone else.
func TestComputer_usedSoftwareDraftIsNotTakenOver(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	draft := map[string]any{"workstreamId": hostA, "creationSessionId": hostB, "firstTurnId": hostA}
	made := newComputer(e, map[string]any{"name": "theirs", "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": true, "softwareDraft": draft}})
	source := map[string]any{"kind": "template", "template_id": "template-base", "is_listed": true,
		"software_draft": map[string]any{"workstream_id": hostA, "creation_session_id": hostB, "first_turn_id": hostA}}
	i := e.NewInstance(t, computerType)
	for range 2 {
		e.Apply(t, i, acctest.Values{"name": "mine", "source": source}).MustFail(t, "",
			"the response has another object", "If no resource manages it", "terraform import ADDRESS "+made.ID)
	}
	if left := only(t, e); left.ID != made.ID || !i.State.IsNull() {
		t.Errorf("the emulator holds %+v, the state %s", left, i.State)
	}
}

// An empty list equals none, a URL equals itself with ".git" or a slash at the end, and the order has no meaning.
func TestComputer_equalReposDoNotReplace(t *testing.T) {
	t.Parallel()
	repo := func(urls ...any) []any { return urls }
	for name, tc := range map[string]struct {
		before, after []any
		want          acctest.Action
	}{
		"none, then empty": {nil, []any{}, "update"},
		"with .git":        {repo("https://git.example/acme/app"), repo("https://git.example/acme/app.git"), "none"},
		"in another order": {repo("https://git.example/acme/app", "https://git.example/acme/tools"), repo("https://git.example/acme/tools.git", "https://git.example/acme/app/"), "none"},
	} {
		for typeName, config := range map[string]acctest.Values{computerType: {"name": "a"}, fleetType: fleetOf(1)} {
			t.Run(typeName+"/"+name, func(t *testing.T) {
				t.Parallel()
				with := func(repos []any) acctest.Values {
					c := maps.Clone(config)
					if repos != nil {
						c["repos"] = repos
					}
					return c
				}
				e := acctest.New(t)
				p, i := e.Created(t, typeName, with(tc.before))
				p.Plan(i, with(tc.after)).MustDo(t, tc.want)
				if tc.want != "update" {
					return
				}
				e.Journal().Reset()
				p.Apply(i, with(tc.after)).MustDo(t, acctest.ActionUpdate)
				p.Plan(i, with(tc.after)).MustDo(t, acctest.ActionNone)
				for _, entry := range e.Journal().Entries() {
					check.Is(t, "the method of "+entry.Operation, entry.Method, "GET")
				}
			})
		}
	}
}

// UUIDs are equal without case. The service returns lower case; the state keeps the configured spelling.
func TestComputer_idsInCapitals(t *testing.T) {
	t.Parallel()
	upper := strings.ToUpper
	original := func(e *acctest.Env) string { return makeComputer(e, map[string]any{"name": "original"}).ID }
	source := func(id string) acctest.Values {
		return acctest.Values{"name": "a", "source": map[string]any{"kind": "computer", "source_computer_id": id}}
	}
	draft := func(a, b string) acctest.Values {
		return acctest.Values{"name": "a", "source": map[string]any{"kind": "template", "template_id": "template-base", "is_listed": true,
			"software_draft": map[string]any{"workstream_id": a, "creation_session_id": b, "first_turn_id": a}}}
	}
	own := func(host string) acctest.Values {
		return acctest.Values{"name": "a", "provider_type": "byom", "host_id": host}
	}
	for name, of := range map[string]func(e *acctest.Env) (before, after, other acctest.Values){
		"host_id": func(*acctest.Env) (_, _, _ acctest.Values) { return own(upper(hostA)), own(hostA), own(hostB) },
		"source_computer_id": func(e *acctest.Env) (_, _, _ acctest.Values) {
			id := original(e)
			return source(upper(id)), source(id), source(hostB)
		},
		"software_draft": func(*acctest.Env) (_, _, _ acctest.Values) {
			return draft(upper(hostA), upper(hostB)), draft(hostA, hostB), draft(hostA, hostA)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			before, after, other := of(e)
			p, i := e.Created(t, computerType, before)
			for _, config := range []acctest.Values{before, after} {
				p.Apply(i, config).MustDo(t, acctest.ActionNone)
			}
			if name == "host_id" && i.Attribute("host_id") != upper(hostA) {
				t.Errorf("the host ID is %s", i.Attribute("host_id"))
			}
			p.Plan(i, other).MustDo(t, acctest.ActionReplace)
		})
	}
}

// The service returns the ID in lower case.
func TestComputer_importInCapitals(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := newComputer(e, map[string]any{"name": "a", "provider": "byom"})
	acctest.NewProcess(t, e, nil).ImportByIdentity(e.NewInstance(t, computerType), acctest.Values{"id": strings.ToUpper(made.ID)}).MustSucceed(t)
	i := imported(t, e, computerType, strings.ToUpper(made.ID))
	for range 2 {
		e.Apply(t, i, acctest.Values{"name": "a", "provider_type": "byom"}).MustDo(t, acctest.ActionNone)
	}
	e.Apply(t, i, acctest.Values{"name": "b", "provider_type": "byom"}).MustDo(t, acctest.ActionUpdate)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
}

// After its import with the key of its account, a computer adopts that account, and no other.
func TestComputer_importAdoptsOnlyTheOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	id := makeComputer(e, map[string]any{"name": "a", "serviceAccountId": account}).ID
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	i := p.NewInstance(computerType)
	p.Import(i, id).MustSucceed(t)
	e.Plan(t, i.Clone(), acctest.Values{"name": "a", "service_account_id": account}).MustDo(t, acctest.ActionUpdate)
	other := e.Make("/api/v0/service-accounts", map[string]any{"name": "other"}).ID
	e.Plan(t, i, acctest.Values{"name": "a", "service_account_id": other}).MustDo(t, acctest.ActionReplace)
}
