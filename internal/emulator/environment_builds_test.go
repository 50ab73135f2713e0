package emulator_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// fail programs a failure of builds.
func (v *env) fail(f emulator.BuildFailure) {
	v.t.Helper()
	check.Must(v.t, v.FailBuild(f))
}

// state shows the status of an environment and of its latest build.
func (v *env) state(id string) string {
	v.t.Helper()
	e := v.environmentOf(id)
	return fmt.Sprint(e["status"], " ", e["latestBuild"].(object)["status"])
}

// latest returns the ID of an environment's latest build.
func (v *env) latest(id string) string {
	v.t.Helper()
	return v.environmentOf(id)["latestBuild"].(object)["id"].(string)
}

// buildStatus reads the status of any build of an environment.
func (v *env) buildStatus(id, build string) string {
	v.t.Helper()
	return v.call(200, "GET", environments+"/"+id+"/builds/"+build+"/diagnostics", nil).object(v.t)["status"].(string)
}

func TestBuildFollowsTheClock(t *testing.T) {
	t.Parallel()
	slow := emulator.Options{BuildPhase: 10 * time.Second}
	for _, c := range []struct {
		name    string
		opts    emulator.Options
		phase   time.Duration
		failure *emulator.BuildFailure
		want    []string // After each phase.
	}{
		{"by default", emulator.Options{}, 2 * time.Second, nil, []string{"building queued", "building building", "building validating", "ready succeeded", "ready succeeded"}},
		{"fails while it builds", slow, 10 * time.Second, &emulator.BuildFailure{}, []string{"building queued", "building building", "failed failed", "failed failed"}},
		{"fails while it validates", slow, 10 * time.Second, &emulator.BuildFailure{Phase: "validating"}, []string{"building queued", "building building", "building validating", "failed failed"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := start(t, c.opts)
			if c.failure != nil {
				v.fail(*c.failure)
			}
			id := v.environment(nil)
			for i, want := range c.want {
				same(t, i, v.state(id), want)
				v.clock.Advance(c.phase - time.Millisecond)
				same(t, fmt.Sprintf("just before the end of phase %d", i), v.state(id), want)
				v.clock.Advance(time.Millisecond)
			}
		})
	}
}

func TestStartBuild(t *testing.T) {
	v := startParallel(t)
	id := v.ready(nil)
	v.call(204, "POST", "/_emulator/environments/"+id+"/build", nil)
	same(t, "the environment", v.state(id), "building queued")
	same(t, "trigger", v.environmentOf(id)["latestBuild"].(object)["trigger"], "scheduled")
}

func TestBuildRecord(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{BuildPhase: 10 * time.Second})
	created := v.clock.Now().UnixMilli()
	id := v.environment(object{"repositories": append(repositories(1), object{"url": "ssh://git@git.example/acme/lib", "script": "make"})})
	v.clock.Advance(10 * time.Second)
	build := v.environmentOf(id)["latestBuild"].(object)
	for i, want := range []string{"repo-0", "lib"} {
		got := build["repositories"].([]any)[i].(object)
		if got["name"] != want || got["defaultBranch"] != "main" || !regexp.MustCompile(`^[0-9a-f]{40}$`).MatchString(got["commitSha"].(string)) {
			t.Errorf("repository: %v", got)
		}
	}
	fields(t, "while it builds", build, object{"startedAt": float64(created + 10_000), "finishedAt": nil, "promotedAt": nil})
	v.clock.Advance(time.Hour)
	end := float64(created + 30_000)
	e := v.environmentOf(id)
	done := e["latestBuild"].(object)
	same(t, "succeeded", []any{done["finishedAt"], done["promotedAt"], e["lastSuccessfulBuildAt"], e["failureReason"]}, []any{end, end, end, nil})
	same(t, "repositories later", done["repositories"], build["repositories"])
	v.fail(emulator.BuildFailure{})
	v.call(200, "POST", environments+"/"+id+"/builds", nil)
	v.clock.Advance(time.Minute)
	failed := v.environmentOf(id)["latestBuild"].(object)
	if failed["trigger"] != "manual" || failed["finishedAt"] == nil || failed["promotedAt"] != nil {
		t.Errorf("failed: %v", failed)
	}
	if commit := func(b object) any { return b["repositories"].([]any)[0].(object)["commitSha"] }; commit(failed) == commit(done) {
		t.Error("two builds found the same commit")
	}
}

// What is asked for shows at once; what is active changes only when a build of it succeeds.
func TestActiveAgainstPending(t *testing.T) {
	v := startParallel(t)
	id := v.environment(nil)
	active := func(want int, source string, at any) {
		t.Helper()
		e := v.environmentOf(id)
		repos, _ := e["activeRepositories"].([]any)
		got, _ := e["activeSource"].(object)
		same(t, "repositories", []any{len(repos), fmt.Sprint(got["id"]), e["lastSuccessfulBuildAt"]}, []any{want, source, at})
	}
	patch := func(body object) {
		t.Helper()
		v.call(200, "PATCH", environments+"/"+id, body)
	}
	end := func() float64 { return float64(v.clock.Now().Add(6 * time.Second).UnixMilli()) }
	active(0, "<nil>", nil)
	first := end()
	v.clock.Advance(time.Minute)
	active(1, "source-base", first)

	v.fail(emulator.BuildFailure{})
	patch(object{"repositories": repositories(2), "sourceId": "source-repositories"})
	active(1, "source-base", first)
	v.clock.Advance(time.Minute)
	active(1, "source-base", first) // The build has failed.
	patch(object{"repositories": repositories(3)})
	v.clock.Advance(time.Second)
	active(1, "source-base", first)
	patch(object{"repositories": repositories(4)}) // The third build is superseded, the fourth succeeds.
	last := end()
	v.clock.Advance(time.Minute)
	active(4, "source-repositories", last)
	patch(object{"repositories": repositories(5)})
	active(4, "source-repositories", last)
}

func TestEditSupersedesARunningBuild(t *testing.T) {
	v := startParallel(t)
	v.fail(emulator.BuildFailure{Reason: "of the first build only"})
	id := v.environment(nil)
	first := v.latest(id)
	v.clock.Advance(3 * time.Second)
	second := v.call(200, "PATCH", environments+"/"+id, object{"setupScript": "make"}).object(t)["buildId"].(string)
	third := v.call(200, "PATCH", environments+"/"+id, object{"setupScript": nil}).object(t)["buildId"].(string)
	for build, want := range map[string]string{first: "superseded", second: "superseded", third: "queued"} {
		check.Is(t, "the status", v.buildStatus(id, build), want)
	}
	v.clock.Advance(time.Minute)
	for build, want := range map[string]string{first: "superseded", second: "superseded", third: "succeeded"} {
		same(t, "later", v.buildStatus(id, build), want)
	}
	if got := v.state(id); got != "ready succeeded" || v.latest(id) != third {
		t.Errorf("environment: %s", got)
	}
}

func TestRetryBuild(t *testing.T) {
	v := startParallel(t)
	v.fail(emulator.BuildFailure{})
	id := v.environment(nil)
	builds := environments + "/" + id + "/builds"
	first := v.latest(id)
	v.detail(v.call(409, "POST", builds, nil), first+" of the environment \"dev\" is running")
	v.clock.Advance(time.Minute)
	same(t, "first", v.state(id), "failed failed")
	for range 2 { // After a failure, and after a success.
		response := v.call(200, "POST", builds, object{}).object(t)
		if response["id"] != id || response["buildId"] != v.latest(id) || response["buildId"] == first || v.state(id) != "building queued" {
			t.Errorf("retried: %v, %s", response, v.state(id))
		}
		v.call(409, "POST", builds, nil)
		v.clock.Advance(time.Minute)
		same(t, "retried", v.state(id), "ready succeeded")
	}
	same(t, "the first build", v.buildStatus(id, first), "failed")
}

func TestCancelBuild(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		after time.Duration
		was   string
		want  int
	}{
		{"queued", 0, "queued", 204},
		{"building", 2 * time.Second, "building", 204},
		{"succeeded", 6 * time.Second, "succeeded", 409},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := startParallel(t)
			id := v.environment(nil)
			build := v.latest(id)
			cancel := environments + "/" + id + "/builds/" + build + "/cancel"
			v.clock.Advance(c.after)
			a := v.call(c.want, "POST", cancel, nil)
			if c.want == 409 {
				v.detail(a, "is not running; its status is succeeded")
				return
			}
			v.detail(v.call(409, "POST", cancel, nil), "its status is failed")
			at := float64(v.clock.Now().UnixMilli())
			v.clock.Advance(time.Minute)
			e := v.environmentOf(id)
			b := e["latestBuild"].(object)
			if e["status"] != "failed" || b["status"] != "failed" || b["failureCategory"] != "unknown" || b["failureReason"] != "The build was cancelled." ||
				e["failureReason"] != b["failureReason"] || b["finishedAt"] != at || b["promotedAt"] != nil || (b["startedAt"] == nil) != (c.was == "queued") {
				t.Errorf("environment: %v", e)
			}
		})
	}
	v := start(t, emulator.Options{})
	id, other := v.environment(nil), v.environment(object{"name": "other"})
	first := v.latest(id)
	v.call(200, "PATCH", environments+"/"+id, object{"setupScript": "make"})
	v.detail(v.call(409, "POST", environments+"/"+id+"/builds/"+first+"/cancel", nil), "superseded")
	v.call(404, "POST", environments+"/"+id+"/builds/"+v.latest(other)+"/cancel", nil)
	v.call(404, "POST", environments+"/"+id+"/builds/bld_none/cancel", nil)
}

// The diagnostics are the same wherever they are shown, but for the status.
func TestBuildDiagnostics(t *testing.T) {
	t.Parallel()
	const kib = 1 << 10
	for _, c := range []struct {
		name    string
		failure emulator.BuildFailure
		want    object // What all show beside ID and status.
	}{
		{"none", emulator.BuildFailure{}, object{"truncated": false, "withheld": false}},
		{"just short enough", emulator.BuildFailure{Excerpt: strings.Repeat("x", 4*kib)}, object{"excerpt": strings.Repeat("x", 4*kib), "truncated": false, "withheld": false}},
		{"too long", emulator.BuildFailure{Excerpt: "begin" + strings.Repeat("x", 4*kib-3) + "end"}, object{"excerpt": strings.Repeat("x", 4*kib-3) + "end", "truncated": true, "withheld": false}},
		{"cut within a character", emulator.BuildFailure{Excerpt: strings.Repeat("ä", 2*kib) + "x"}, object{"excerpt": strings.Repeat("ä", 2*kib-1) + "x", "truncated": true, "withheld": false}},
		{"withheld", emulator.BuildFailure{Excerpt: strings.Repeat("secret", kib), Withheld: true}, object{"truncated": false, "withheld": true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := startParallel(t)
			v.fail(c.failure)
			id := v.environment(nil)
			build := v.latest(id)
			one := environments + "/" + id
			for _, ended := range []bool{false, true} { // While it runs it has nothing to tell.
				want, status := object{"truncated": false, "withheld": false}, "queued"
				if ended {
					v.clock.Advance(time.Minute)
					want, status = c.want, "failed"
				}
				environmentStatus := map[bool]string{false: "building", true: "failed"}[ended]
				expect := func(what string, got object, other object) {
					t.Helper()
					for name, value := range want {
						other[name] = value
					}
					same(t, what, got, other)
				}
				expect("latest", v.call(200, "GET", one+"/build-diagnostics", nil).object(t), object{"buildId": build, "status": environmentStatus})
				expect("one", v.call(200, "GET", one+"/builds/"+build+"/diagnostics", nil).object(t), object{"buildId": build, "status": status})
				statuses := v.call(200, "GET", environments+"/build-statuses?environmentIds="+id, nil).object(t)["builds"].([]any)[0].(object)
				expect("statuses", statuses["latestBuild"].(object), object{"id": build, "status": status})
				shown := v.environmentOf(id)["latestBuild"].(object)
				got := object{}
				for _, name := range []string{"excerpt", "truncated", "withheld"} {
					if value, found := shown[name]; found {
						got[name] = value
					}
				}
				expect("environment", got, object{})
			}
		})
	}
}

func TestBuildStatuses(t *testing.T) {
	v := startParallel(t)
	accountID, account := v.account("ci")
	v.fail(emulator.BuildFailure{Name: "bad"})
	bad, good := v.environment(object{"name": "bad"}), v.environment(object{"name": "good"})
	hidden := v.as(account, 201, "POST", environments, definition(object{"scope": "user"})).object(t)["id"].(string)
	v.clock.Advance(time.Minute)
	running := v.environment(object{"name": "running"})
	names := map[string]string{bad: "bad", good: "good", hidden: "hidden", running: "running"}
	statuses := func(key, query string) string {
		t.Helper()
		var got []string
		for _, b := range v.as(key, 200, "GET", environments+"/build-statuses?environmentIds="+query, nil).object(t)["builds"].([]any) {
			b := b.(object)
			got = append(got, fmt.Sprint(names[b["environmentId"].(string)], " ", b["environmentStatus"], " ", b["latestBuild"].(object)["status"]))
		}
		slices.Sort(got)
		return strings.Join(got, ", ")
	}
	all := strings.Join([]string{bad, "env_none", good, hidden, running, good}, "&environmentIds=")
	for _, c := range []struct{ key, query, want string }{
		{v.BootstrapKey(), good, "good ready succeeded"},
		{v.BootstrapKey(), all, "bad failed failed, good ready succeeded, running building queued"},
		{account, all, "bad failed failed, good ready succeeded, hidden ready succeeded, running building queued"},
		{v.BootstrapKey(), all + "&serviceAccountId=" + accountID, "bad failed failed, good ready succeeded, hidden ready succeeded, running building queued"},
		{v.BootstrapKey(), "env_none", ""},
		{v.BootstrapKey(), "env_none" + strings.Repeat("&environmentIds="+good, 99), "good ready succeeded"},
	} {
		same(t, c.query, statuses(c.key, c.query), c.want)
	}
}
