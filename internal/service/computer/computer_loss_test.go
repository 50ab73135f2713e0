package computer_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Without base_url, nothing can be read, and a state with only the ID would be planned as a replacement.
func TestAccComputer_importWhileASettingIsUnknown(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	made := newComputer(e, map[string]any{"name": "precious", "provider": "byom"})
	with := func(address string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"address\" {\n  input = %q\n}\nprovider \"agentyard\" {\n  base_url = %s\n}\nimport {\n  to = %s\n  id = %q\n}\n", e.URL(), address, address, made.ID) +
			config("name = \"precious\"\nprovider_type = \"byom\"")
	}
	cli := acctest.NewCLI(t, e, strings.Replace(with("terraform_data.address.output"), "to = terraform_data.address.output", "to = "+address, 1))
	mustSay(t, cli.Run("apply", "-auto-approve", "-input=false"), "Cannot Import Computer Yet", "base_url", "First apply what base_url depends on")
	cli.MustRun("apply", "-auto-approve", "-input=false", "-target=terraform_data.address")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if left := only(t, e); left.ID != made.ID {
		t.Errorf("the computer was replaced by %+v", left)
	}
	cli.MustPlanEmpty()
}

// To a key whose role is too low, the service returns 404 for each computer of a service account, although it exists.
func TestComputer_aKeyWithATooLowRole(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{computerType: {"name": "a"}, fleetType: fleetOf(2)} {
		e := acctest.New(t)
		var account struct {
			ID string `json:"id"`
		}
		e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "ci"}, &account)
		config["service_account_id"] = account.ID
		_, i := e.Created(t, typeName, config)
		_, key, err := e.AddHuman(emulator.Human{Email: "user@agentyard.example", Role: emulator.RoleUser})
		acctest.Must(t, err)
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
		e.API(http.MethodDelete, "/api/v0/service-accounts/"+account.ID, nil, nil)
		if out := acctest.NewProcess(t, e, nil).Destroy(i); len(out.Errors) > 0 {
			t.Errorf("%s: %v", typeName, out)
		}
	}
}

// A request that changes something is completed, and its result is in the state.
func TestAccComputer_interruptedWhileACreationIsInFlight(t *testing.T) {
	t.Parallel()
	for operation, hcl := range map[string]string{
		"createComputer":      config("name = \"web-1\"\nprovider_type = \"byom\""),
		"bulkCreateComputers": "resource \"agentyard_computer_fleet\" \"test\" {\n  name_prefix = \"web\"\n  quantity = 1\n}\n",
	} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			running := make(chan *acctest.Running, 1)
			e := acctest.NewRealTime(t, acctest.InterruptInFlight(operation, running))
			cli := acctest.NewCLI(t, e, hcl)
			run := cli.Start("apply", "-auto-approve", "-input=false")
			running <- run
			run.Wait()
			id := only(t, e).ID
			if state := cli.MustRun("show"); !strings.Contains(state.Output, id) || strings.Contains(state.Output, "tainted") {
				t.Fatalf("the state: %s", state.Output)
			}
			cli.MustRun("apply", "-auto-approve", "-input=false")
			if got := only(t, e).ID; got != id {
				t.Errorf("the computer was made again: %s", got)
			}
			cli.MustPlanEmpty()
		})
	}
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

// A success response without the requested object does not reach the state.
func TestComputer_answersOfAnotherShape(t *testing.T) {
	t.Parallel()
	before, after := acctest.Values{"name": "a", "provider_type": "byom"}, acctest.Values{"name": "b", "provider_type": "byom"}
	const other = `{"id":"2c5f39cb-3fb2-42e3-994f-1127e4ddb538","name":"b","providerType":"byom","createdAt":1}`
	for name, tc := range map[string]struct {
		operation, body string
		wantErr         []string // Empty if the response can be completed.
	}{
		"an update without an object":  {operation: "updateComputer", body: `{}`},
		"an update of another object":  {operation: "updateComputer", body: other, wantErr: []string{"updateComputer", "unexpected response"}},
		"a read of another object":     {operation: "getComputer", body: other, wantErr: []string{"instead of"}},
		"a read in another form":       {operation: "getComputer", body: `{"computer":{"id":"ID","name":"a","providerType":"byom","isListed":true,"status":"asleep","createdAt":1772366400000},"new":1}`},
		"a creation of another object": {operation: "createComputer", body: other, wantErr: []string{"the response has another object", "import it: terraform import ADDRESS"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
			i := p.NewInstance(computerType)
			hit := func(id string) {
				e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultOtherResponse, Body: strings.ReplaceAll(tc.body, "ID", id), Times: -1})
			}
			steps := []acctest.Values{before, after}
			if tc.operation == "createComputer" || tc.operation == "listComputers" {
				hit("")
				steps = steps[:1]
			}
			var out acctest.Outcome
			for n, step := range steps {
				if n == 1 {
					hit(i.ID())
				}
				out = p.Apply(i, step)
			}
			if len(out.Errors) > 0 != (len(tc.wantErr) > 0) {
				t.Fatal(out)
			}
			acctest.Says(t, out.Text(), tc.wantErr...)
			if len(steps) == 2 && (i.ID() == "" || i.ID() != only(t, e).ID) {
				t.Errorf("the state holds %q", i.ID())
			}
			e.Faults().Clear()
			if tc.operation == "createComputer" && len(tc.wantErr) > 0 {
				return // The created object has another name, which the error contains.
			}
			last := steps[len(steps)-1]
			if out := e.Apply(t, i, last); len(out.Errors) > 0 || only(t, e).Name != last["name"] {
				t.Errorf("the next apply does not converge: %s", out)
			}
		})
	}
}

// A host is registered while a rename is planned: the rename succeeds, and the next refresh reads the host.
func TestComputer_hostRegisteredDuringAPlan(t *testing.T) {
	t.Parallel()
	var e *acctest.Env
	e = acctest.New(t, acctest.Meanwhile("PATCH /api/v0/computers/", func(int) {
		e.API(http.MethodPatch, "/api/v0/computers/"+only(t, e).ID, map[string]any{"hostId": hostA}, nil)
	}))
	_, i := e.Created(t, computerType, acctest.Values{"name": "a", "provider_type": "byom"})
	renamed := acctest.Values{"name": "b", "provider_type": "byom"}
	e.Apply(t, i, renamed).MustDo(t, acctest.ActionUpdate)
	if e.Plan(t, i, renamed).MustDo(t, acctest.ActionNone); i.Attribute("host_id") != hostA {
		t.Errorf("the state: %s", i.State)
	}
}

// A service account's own key can import its computers, and the plan is empty.
func TestComputer_importWithTheAccountsOwnKey(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	status, answer := e.TryWithKey(key, http.MethodPost, "/api/v0/computers", map[string]any{"name": "mine"})
	if status != http.StatusCreated {
		t.Fatalf("%d: %s", status, answer)
	}
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	i := p.NewInstance(computerType)
	p.Import(i, string(regexp.MustCompile(`"id":"([^"]+)"`).FindSubmatch(answer)[1])).MustSucceed(t)
	p.Plan(i, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionNone)
	// Setting the account that already owns the computer is adopted, because it changes nothing.
	p.Plan(i, acctest.Values{"name": "mine", "service_account_id": account}).MustDo(t, acctest.ActionUpdate)
}
