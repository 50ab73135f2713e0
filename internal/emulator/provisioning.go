package emulator

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/google/uuid"
)

// The IDs of provisioning steps, in their order.
const (
	stepCreate   = "create-computer"
	stepUser     = "create-user"
	stepConfig   = "write-configuration"
	stepAgent    = "install-agent"
	stepServices = "start-services"
	stepClone    = "clone-repos"
	stepInstall  = "install-dependencies"
)

var stepNames = map[string]string{
	stepCreate: "Create computer", stepUser: "Create user", stepConfig: "Write configuration", stepAgent: "Install agent",
	stepServices: "Start services", stepClone: "Clone repositories", stepInstall: "Install dependencies",
}

// The states of a computer.
const (
	statusProvisioning = "provisioning"
	statusActive       = "active"
	statusError        = "error"
)

// plannedStep is one step of a setup. Its state is never stored: it follows from the clock.
type plannedStep struct {
	ID       string
	Duration int64  // Milliseconds.
	Error    string `json:",omitempty"` // Not empty: the step fails at its end with this text.
	// AgainAt and AgainError describe the latest later attempt of the install step; AgainAt 0 means none.
	AgainAt    int64  `json:",omitempty"`
	AgainError string `json:",omitempty"`
}

// provisioningStep is a step as the API shows it.
type provisioningStep struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Status      string `json:"status"`
	Error       string `json:"error,omitempty"`
	StartedAt   int64  `json:"startedAt,omitempty"`
	CompletedAt int64  `json:"completedAt,omitempty"`
}

// FailStep makes the setup of the next computers fail. If Step is install-dependencies, it also fails a later install-deps.
type FailStep struct {
	// Name is a computer's name or a pattern as of path.Match, such as "ci-*"; empty means any.
	Name string `json:"name"`
	// Step is the step's ID; empty means create-computer. A computer without this step is not affected.
	Step string `json:"step"`
	// Error is the text of the failed step.
	Error string `json:"error"`
	// Times is how many computers fail; 0 means 1, -1 means all.
	Times int `json:"times"`
}

// switches are what tests and people programmed. They live in memory only; a reset forgets them.
type switches struct {
	failSteps  []FailStep
	bulk       *bulkFailure
	failBuilds []BuildFailure
	providers  map[string]bool // Provider of sources → whether it is available, where that was switched.
	tier       string          // Empty means Options.Tier.
	seats      int             // 0 means any number.
	wikiExport WikiExport      // Without a form it is Options.WikiExport.

	noEnvironments, noAnalytics, noSessions bool
	noIntegration                           bool // The code-host integration is not connected.
	noSettingsOnReads                       bool // Reads of one session lack its settings.
}

type bulkFailure struct {
	After   int
	Message string
}

// program changes what is programmed.
func (e *Emulator) program(change func(*switches)) {
	e.programming.Lock()
	defer e.programming.Unlock()
	change(&e.switches)
}

// switched is a copy of what is programmed now.
func (e *Emulator) switched() (s switches) {
	e.program(func(now *switches) {
		s = *now
		s.failSteps, s.failBuilds, s.providers = slices.Clone(s.failSteps), slices.Clone(s.failBuilds), maps.Clone(s.providers)
	})
	return s
}

// take returns the first failure of a list that applies, or nil, and counts it as used.
func take[T any](list *[]T, times func(*T) *int, applies func(*T) bool) *T {
	for i := range *list {
		f := &(*list)[i]
		if !applies(f) {
			continue
		}
		taken := *f
		if left := times(f); *left > 0 {
			if *left--; *left == 0 {
				*list = slices.Delete(*list, i, i+1)
			}
		}
		return &taken
	}
	return nil
}

// FailProvisioning makes the setup of the next matching managed computers fail.
func (e *Emulator) FailProvisioning(f FailStep) {
	f.Step, f.Error, f.Times = cmp.Or(f.Step, stepCreate), cmp.Or(f.Error, "The step failed, as programmed."), cmp.Or(f.Times, 1)
	e.program(func(s *switches) { s.failSteps = append(s.failSteps, f) })
}

// matchesName reports whether a programmed failure applies to a name. The pattern may be empty, for any name.
func matchesName(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return pattern == "" || pattern == name || err == nil && matched
}

// stepError returns the programmed error for a step of a computer, and counts it as used.
func (e *Emulator) stepError(name, step string) (text string) {
	e.program(func(s *switches) {
		if f := take(&s.failSteps, func(f *FailStep) *int { return &f.Times }, func(f *FailStep) bool { return f.Step == step && matchesName(f.Name, name) }); f != nil {
			text = f.Error
		}
	})
	return text
}

// plan lists the steps a managed computer goes through.
func (e *Emulator) plan(c *computer) []plannedStep {
	ids := []string{stepCreate, stepUser, stepConfig, stepAgent, stepServices}
	if len(c.Repos) > 0 {
		ids = append(ids, stepClone)
	}
	if c.AutoInstallDeps {
		ids = append(ids, stepInstall)
	}
	steps := make([]plannedStep, len(ids))
	for i, id := range ids {
		length, ok := e.opts.Provisioning.Steps[id]
		if !ok {
			length = orDefault(e.opts.Provisioning.Step, 2*time.Second)
		}
		steps[i] = plannedStep{ID: id, Duration: max(1, length.Milliseconds()), Error: e.stepError(c.Name, id)}
	}
	return steps
}

// progress is the state of a computer's setup at one moment.
type progress struct {
	status  string
	steps   []provisioningStep
	endedAt int64 // When the status left provisioning; 0 before.
}

// progressAt computes the state of the setup from the plan and the clock.
func (c *computer) progressAt(now time.Time) progress {
	if c.ProviderType == providerBYOM {
		return progress{status: statusActive, steps: []provisioningStep{}, endedAt: c.CreatedAt}
	}
	p := progress{status: statusProvisioning, steps: make([]provisioningStep, len(c.Plan))}
	start, failed := c.CreatedAt, false
	for i, planned := range c.Plan {
		s := provisioningStep{ID: planned.ID, Name: stepNames[planned.ID], Status: "pending"}
		if !failed {
			s.at(start, planned.Duration, planned.Error, millis(now))
			start += planned.Duration
			if s.Status == "failed" {
				failed, p.status, p.endedAt = true, statusError, s.CompletedAt
			}
		}
		if planned.AgainAt != 0 {
			s.at(planned.AgainAt, planned.Duration, planned.AgainError, millis(now))
		}
		p.steps[i] = s
	}
	if !failed && start <= millis(now) {
		p.status, p.endedAt = statusActive, start
	}
	if p.status == statusActive && c.Broken {
		p.status = statusError
	}
	return p
}

// at fills in the state of a step that starts at a given time.
func (s *provisioningStep) at(start, duration int64, failure string, now int64) {
	end := start + duration
	switch {
	case now < start:
		return
	case now < end:
		s.Status, s.Error, s.StartedAt, s.CompletedAt = "in_progress", "", start, 0
	case failure != "":
		s.Status, s.Error, s.StartedAt, s.CompletedAt = "failed", failure, start, end
	default:
		s.Status, s.Error, s.StartedAt, s.CompletedAt = "completed", "", start, end
	}
}

// step returns the state of one step, or nil if the plan does not have it.
func (p progress) step(id string) *provisioningStep {
	for i := range p.steps {
		if p.steps[i].ID == id {
			return &p.steps[i]
		}
	}
	return nil
}

// clonedDirectories lists where the repositories are, once they are cloned.
func (c *computer) clonedDirectories(p progress) []string {
	if s := p.step(stepClone); s == nil || s.Status != "completed" {
		return nil
	}
	dirs := make([]string, len(c.Repos))
	for i, repo := range c.Repos {
		dirs[i] = "/home/" + c.RemoteUser + "/" + repositoryName(repo)
	}
	return dirs
}

// installDeps starts another attempt to install dependencies; the computer's status does not change by it. Before the
// first attempt there is nothing to repeat; where that failed another one is allowed, although the computer is not active.
func installDeps(r *request, c *computer) (reply, error) {
	p := c.progressAt(r.now)
	step := p.step(stepInstall)
	switch {
	case c.ProviderType == providerBYOM:
		return reply{}, refuse("install-not-configured", "Dependencies cannot be installed on a BYOM computer.")
	case step == nil:
		return reply{}, refuse("install-not-configured", "The computer %q was created without autoInstallDeps.", c.Name)
	case step.Status == "in_progress":
		return reply{}, conflict("An install of dependencies is already in progress on the computer %q.", c.Name)
	case p.status != statusActive && step.Status != "failed":
		return reply{}, refuse("not-active", "The computer %q is in status %s; it must be active.", c.Name, p.status)
	}
	for i := range c.Plan {
		if c.Plan[i].ID == stepInstall {
			c.Plan[i].AgainAt = millis(r.now)
			c.Plan[i].AgainError = r.e.stepError(c.Name, stepInstall)
		}
	}
	c.InstallSessionID = uuid.NewString()
	if err := computerTable.put(r.tx, c.ID, *c); err != nil {
		return reply{}, err
	}
	return reply{202, r.computerView(c, false)}, nil
}
