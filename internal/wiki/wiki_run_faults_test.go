package wiki_test

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	wikiRunType = "agentyard_wiki_run"
	acmeAPI     = "https://code.example/acme/api"
	acmeWeb     = "https://code.example/acme/web"
)

func wikiRunsOf(t testing.TB, e *acctest.Env) []emulator.WikiRun {
	t.Helper()
	all, err := e.WikiRuns()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// wikiRunOf is a configuration of a run of acme/api, changed as given.
func wikiRunOf(changes acctest.Values) acctest.Values {
	config := acctest.Values{"repo_url": acmeAPI}
	for attribute, v := range changes {
		config[attribute] = v
	}
	return config
}

// addBeside adds the run that besideRun has a process read, as a plan reads what the state holds beside a creation.
func addBeside(t *testing.T, e *acctest.Env) { addRun(t, e, emulator.WikiRun{RepoURL: acmeWeb}) }

func besideRun(t *testing.T, e *acctest.Env, p *acctest.Process) {
	t.Helper()
	for _, run := range wikiRunsOf(t, e) {
		if run.RepoURL != acmeWeb {
			continue
		}
		i := p.NewInstance(wikiRunType)
		if out := p.Import(i, run.ID); len(out.Errors) > 0 {
			t.Fatal(out)
		}
		if out := p.Plan(i, acctest.Values{"repo_url": acmeWeb}); out.Action != "none" || len(out.Errors) > 0 {
			t.Fatal(out)
		}
	}
	e.Clock.Advance(2 * time.Minute) // What was listed for that is too old for a creation: its own listing may fail, too.
}

// runsOfAPI are the IDs of what was made beside it.
func runsOfAPI(t testing.TB) func(e *acctest.Env) []string {
	return func(e *acctest.Env) []string {
		var ids []string
		for _, run := range wikiRunsOf(t, e) {
			if run.RepoURL == acmeAPI {
				ids = append(ids, run.ID)
			}
		}
		return ids
	}
}

// The first apply makes a run and changes its privacy, the second changes it in place, the third makes another run.
func TestWikiRun_faultMatrix(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: wikiRunType,
		Setup: func(e *acctest.Env) []acctest.Values {
			addBeside(t, e)
			return []acctest.Values{
				wikiRunOf(acctest.Values{"privacy_level": "private"}),
				wikiRunOf(acctest.Values{"privacy_level": "organization"}),
				wikiRunOf(acctest.Values{"privacy_level": "organization", "triggers": map[string]any{"release": "2"}}),
			}
		},
		Beside: besideRun,
		Live:   runsOfAPI(t),
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			for _, run := range wikiRunsOf(t, e) {
				if level := i.Attribute("privacy_level"); run.RepoURL == acmeAPI && run.PrivacyLevel != level {
					t.Errorf("the run is %s, the state says %s", run.PrivacyLevel, level)
				}
			}
		},
	}.Run(t)
}

// An upload is told from others by what it asked for.
func TestWikiRun_faultMatrixOfAnUpload(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: wikiRunType,
		Setup: func(e *acctest.Env) []acctest.Values {
			addBeside(t, e)
			return []acctest.Values{wikiRunOf(acctest.Values{"pages": pagesJSON, "page_tree": treeJSON, "branch": "next", "commit_hash": "c0ffee0", "has_local_changes": true, "has_non_remote_commits": false})}
		},
		Beside: besideRun,
		Live:   runsOfAPI(t),
	}.Run(t)
}

func TestAccWikiRun_faultsThroughTheCLI(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]emulator.Fault{
		"dropped after commit": {Kind: emulator.FaultDropAfterCommit},
		"500 after commit":     {Kind: emulator.FaultStatusAfterCommit, Status: 500},
		"truncated":            {Kind: emulator.FaultTruncatedBody},
		"not JSON":             {Kind: emulator.FaultNonJSON},
		"rate limited":         {Kind: emulator.FaultRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			inject := func(operation string) func() {
				return func() {
					fault.Operation = operation
					e.Faults().Add(fault)
				}
			}
			one := func(level string) func(*terraform.State) error {
				return func(*terraform.State) error {
					if run := onlyRun(t, e); run.PrivacyLevel != level {
						return fmt.Errorf("the emulator holds %+v", run)
					}
					return nil
				}
			}
			runSteps(t, e,
				resource.TestStep{PreConfig: inject("createWikiRun"), Config: e.Config(ofAPI()), ConfigPlanChecks: acctest.ThenEmpty, Check: one("organization")},
				resource.TestStep{PreConfig: inject("updateWikiPrivacy"), Config: e.Config(ofAPI(`privacy_level = "private"`)), ConfigPlanChecks: runAction(plancheck.ResourceActionUpdate), Check: one("private")},
			)
		})
	}
}

func TestAccWikiRun_killedAfterCommitStopsAtWhatItFinds(t *testing.T) {
	t.Parallel()
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, acctest.Intercept("createWikiRun", true, func() { <-ready; running.Kill() }))
	// What the state holds already is read by each plan, and before the creation is planned.
	const beside = "resource \"agentyard_service_account\" \"beside\" {\n  name = \"robots\"\n}\n"
	cli := acctest.NewCLI(t, e, beside)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", beside+ofAPI("depends_on = [agentyard_service_account.beside]"))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 {
		t.Fatalf("the apply was not killed: %s", r.Output)
	}
	id := onlyRun(t, e).ID
	r := cli.Run("apply", "-auto-approve", "-input=false", "-lock=false")
	text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(r.Output, " ")
	if r.ExitCode == 0 || !strings.Contains(text, id+" (created at 2") || !strings.Contains(text, "terraform import ADDRESS "+id) || !strings.Contains(text, "terraform destroy -refresh=false.") {
		t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("import", "-lock=false", runAddress, id)
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	cli.MustPlanEmpty()
	cli.MustRun("destroy", "-auto-approve", "-input=false", "-lock=false")
	if n := e.Journal().Count("createWikiRun"); n != 1 || len(wikiRunsOf(t, e)) != 0 {
		t.Errorf("%d creations were sent; left: %+v", n, wikiRunsOf(t, e))
	}
}

// What a resource of the state holds is no leftover, however young it is: of another one that asks for the same, and of
// what takes its place.
func TestAccWikiRun_whatIsHeldIsNoLeftover(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	const first = "lifecycle {\n    create_before_destroy = true\n  }"
	upload := func(content string) string {
		return ofAPI(quoted("pages", strings.Replace(pagesJSON, "# Index", content, 1)), first)
	}
	cli := acctest.NewCLI(t, e, ofAPI(`triggers = { release = "1" }`))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	for _, hcl := range []string{
		ofAPI(`triggers = { release = "2" }`),
		ofAPI(`triggers = { release = "3" }`, first),
		strings.ReplaceAll(ofAPI(`triggers = { release = "3" }`), `"test"`, `"another"`), // The first one goes, at the same time.
		upload("first"), upload("second"),
	} {
		cli.Write("main.tf", hcl)
		cli.MustRun("apply", "-auto-approve", "-input=false")
		cli.MustPlanEmpty()
	}
	if n := len(wikiRunsOf(t, e)); n != 1 {
		t.Errorf("the emulator holds %d runs", n)
	}
}

// An apply knows nothing of what the state holds, nor does a plan that reads nothing.
func TestAccWikiRun_besideThoseThatAreNotRead(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	const first = "lifecycle {\n    create_before_destroy = true\n  }"
	cli := acctest.NewCLI(t, e, ofAPI("count = 1", first))
	apply := []string{"apply", "-auto-approve", "-input=false"}
	cli.MustRun(apply...)
	cli.MustRun(append(apply, "-replace="+runAddress+"[0]")...)
	cli.Write("main.tf", ofAPI("count = 3", first))
	text := regexp.MustCompile(`[\s│]+`).ReplaceAllString(cli.MustRun(append(apply, "-refresh=false")...).Output, " ")
	if !strings.Contains(text, "If a resource in the state holds it, nothing is to be done") {
		t.Errorf("no warning: %s", text)
	}
	if n := len(wikiRunsOf(t, e)); n != 3 {
		t.Errorf("the emulator holds %d runs", n)
	}
	cli.MustPlanEmpty()
}

func TestWikiRun_oldOnesAreNoLeftovers(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	addBeside(t, e)
	id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	plan := func(changes acctest.Values) acctest.Outcome {
		p := acctest.NewProcess(t, e, nil)
		besideRun(t, e, p)
		return p.Plan(p.NewInstance(wikiRunType), wikiRunOf(changes))
	}
	if out := plan(nil); len(out.Errors) != 1 || !strings.Contains(out.Text(), id) {
		t.Errorf("a young run of the same wish: %s", out)
	}
	if out := plan(acctest.Values{"branch": "next"}); len(out.Errors)+len(out.Warnings) > 0 {
		t.Errorf("a young run of another wish: %s", out)
	}
	e.Clock.Advance(31 * time.Minute)
	if out := plan(nil); len(out.Errors)+len(out.Warnings) > 0 {
		t.Errorf("an old run: %s", out)
	}
}

// An import reads also where a plan refreshes nothing, and of the repository of what it reads may be more that a state holds:
// what is alike there is no error of the plan.
func TestWikiRun_leftoverBesideAnImport(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		repository  string
		isRefreshed bool
	}{
		"of another repository, where nothing is refreshed": {repository: acmeWeb},
		"of its repository, where nothing is refreshed":     {repository: acmeAPI},
		"of its repository, where another is refreshed":     {repository: acmeAPI, isRefreshed: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			addBeside(t, e)
			id := addRun(t, e, emulator.WikiRun{RepoURL: tc.repository})
			e.Clock.Advance(time.Hour)
			left := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
			p := acctest.NewProcess(t, e, nil)
			if tc.isRefreshed {
				besideRun(t, e, p)
			}
			if out := p.Import(p.NewInstance(wikiRunType), id); len(out.Errors) > 0 {
				t.Fatal(out)
			}
			out := p.Plan(p.NewInstance(wikiRunType), wikiRunOf(nil))
			if len(out.Errors) > 0 || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0].Detail, left) {
				t.Errorf("%s", out)
			}
		})
	}
}

// together calls do for each number below n at once.
func together(n int, do func(k int)) {
	var running sync.WaitGroup
	for k := range n {
		running.Go(func() { do(k) })
	}
	running.Wait()
}

// Creating costs little more than one request for each run, and a plan of runs that are the newest of their repositories
// a handful.
func TestWikiRun_requestsOfMany(t *testing.T) {
	t.Parallel()
	const n = 100
	e := acctest.New(t)
	configs, made := make([]acctest.Values, n), make([]*acctest.Instance, n)
	for k := range n {
		address := fmt.Sprintf("https://code.example/acme/r%d", k)
		if err := e.ConnectRepository(emulator.Repository{URL: address, DefaultBranch: "main"}); err != nil {
			t.Fatal(err)
		}
		configs[k] = acctest.Values{"repo_url": address}
	}
	p := acctest.NewProcess(t, e, nil)
	together(n, func(k int) {
		made[k] = p.NewInstance(wikiRunType)
		if out := p.Apply(made[k], configs[k]); len(out.Errors) > 0 {
			t.Error(out)
		}
	})
	if requests := len(e.Journal().Entries()); requests > n*105/100+10 {
		t.Errorf("%d requests for %d creations", requests, n)
	}
	e.Journal().Reset()
	p = acctest.NewProcess(t, e, nil)
	together(n, func(k int) {
		if out := p.Apply(made[k], configs[k]); out.Action != "none" || len(out.Errors) > 0 {
			t.Error(out)
		}
	})
	if requests := len(e.Journal().Entries()); requests > 3 {
		t.Errorf("%d requests for a plan of %d: %+v", requests, n, e.Journal().Entries())
	}
}

const (
	pagesJSON = `[{"path":"index.md","title":"Index","content":"# Index"},{"path":"a/b.md","title":"B","content":"b"}]`
	treeJSON  = `[{"path":"index.md","title":"Index","children":[{"path":"a/b.md","title":"B"}]}]`
)
