package emulator

import (
	"path"
	"sync"
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
	Name string
	// Step is the step's ID; empty means create-computer. A computer without this step is not affected.
	Step string
	// Error is the text of the failed step.
	Error string
	// Times is how many computers fail; 0 means 1, -1 means all.
	Times int
}

// programmed holds the behavior that tests and people programmed. It lives in memory only.
type programmed struct {
	mu        sync.Mutex
	failSteps []FailStep
	bulk      *bulkFailure

	failBuilds     []BuildFailure
	providers      map[string]bool // Provider of sources → whether it is available, where that was switched.
	noEnvironments bool

	tier        string // Empty means Options.Tier.
	seats       int    // 0 means any number.
	noAnalytics bool

	noSessions      bool
	settingsOnReads bool // Also reads of one session show its settings.
	// noIntegration says that the code-host integration is not connected.
	noIntegration bool
	wikiExport    WikiExport // Without a form it is Options.Export.
}

type bulkFailure struct {
	after   int
	message string
}

func (p *programmed) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failSteps, p.bulk = nil, nil
	p.failBuilds, p.providers, p.noEnvironments = nil, nil, false
	p.noSessions, p.settingsOnReads = false, false
	p.tier, p.seats, p.noAnalytics, p.noIntegration = "", 0, false, false
	p.wikiExport = WikiExport{}
}

// FailProvisioning makes the setup of the next matching managed computers fail.
func (e *Emulator) FailProvisioning(f FailStep) {
	if f.Step == "" {
		f.Step = stepCreate
	}
	if f.Error == "" {
		f.Error = "The step failed, as programmed."
	}
	if f.Times == 0 {
		f.Times = 1
	}
	e.programmed.mu.Lock()
	defer e.programmed.mu.Unlock()
	e.programmed.failSteps = append(e.programmed.failSteps, f)
}

// matchesName reports whether a programmed failure applies to a name. The pattern may be empty, for any name.
func matchesName(pattern, name string) bool {
	matched, err := path.Match(pattern, name)
	return pattern == "" || pattern == name || err == nil && matched
}

// stepError returns the programmed error for a step of a computer, and counts it as used.
func (p *programmed) stepError(name, step string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.failSteps {
		f := &p.failSteps[i]
		if f.Step != step || !matchesName(f.Name, name) {
			continue
		}
		text := f.Error
		if f.Times > 0 {
			if f.Times--; f.Times == 0 {
				p.failSteps = append(p.failSteps[:i], p.failSteps[i+1:]...)
			}
		}
		return text
	}
	return ""
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
			length = e.opts.Provisioning.Step
		}
		if !ok && length == 0 {
			length = 2 * time.Second
		}
		steps[i] = plannedStep{ID: id, Duration: max(1, length.Milliseconds()), Error: e.programmed.stepError(c.Name, id)}
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
func installDeps(r *request) (reply, error) {
	c, err := r.computer(r.params["computerId"])
	if err != nil {
		return reply{}, err
	}
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
			c.Plan[i].AgainError = r.e.programmed.stepError(c.Name, stepInstall)
		}
	}
	c.InstallSessionID = uuid.NewString()
	if err := computerTable.put(r.tx, c.ID, *c); err != nil {
		return reply{}, err
	}
	return reply{202, r.computerView(c, false)}, nil
}
