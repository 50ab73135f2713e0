// Package trials tries out the rules that the contract assumes and that the form of a response cannot show: orders, bounds,
// uniqueness, roles, and what happens to an object when another one changes. It works with any server of the API.
//
// Each verdict follows from what the service did to a request that shows the rule, mostly beside one that the rule allows. Whatever
// another cause could explain, such as a missing permission, is not seen.
package trials

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// Lab is what trials need of their surroundings.
type Lab struct {
	// Connect returns a client with an API key; "" is the key of the run. Its requests may break the contract on purpose.
	Connect func(key string) (*client.Client, error)
	// NewName returns a new name, which begins with NamePrefix.
	NewName func(what string) string
	// Judge takes a verdict. The text has no value of the service.
	Judge func(rule string, result evidence.Result, observed string)
	// Restore calls undo at the end of the run, also of one that is interrupted, or when the returned function is called.
	Restore func(what string, undo func(context.Context, *client.Client) error) func() error
	// Computer is the ID of an active computer that may get sessions, for the trials of Sessions.
	Computer string
	// MayCreateSessions says that the trials of ManagedComputers may create a session too.
	MayCreateSessions bool
	// Repository is the URL of a repository that may get wikis, for the trials of Wiki.
	Repository string
	// Address is an email address at which nobody minds an invitation, for the trials of Invitation.
	Address string
}

// Trial tries out some rules with requests that share objects. Each is a rule whose refutation would change the provider; beside it
// stands what. What the provider only passes on has no trial.
type Trial struct {
	Name string
	// Variable is what allows the trial; empty if it is free and undoes all it does.
	Variable string
	// Rules are the IDs of the assumptions that it judges.
	Rules []string

	run func(x *exam)
}

// NamePrefix begins the names of all objects that a run creates. Other suites use "tf-acc-" alone.
const NamePrefix = "tf-acc-agentyard-"

// The variables that allow trials.
const (
	ManagedComputers = "AGENTYARD_ACC_MANAGED_COMPUTERS"
	Sessions         = "AGENTYARD_ACC_SESSIONS"
	Wiki             = "AGENTYARD_ACC_WIKI"
	Invitation       = "AGENTYARD_ACC_INVITATION"
	Organization     = "AGENTYARD_ACC_ORGANIZATION"
	CIRepository     = "AGENTYARD_ACC_CI_REPOSITORY"
)

// All returns the trials.
func All() []Trial {
	return slices.Concat(accountTrials, computerTrials, environmentTrials, organizationTrials, wikiTrials, ciTrials, sessionTrials)
}

// Run makes the trial, and judges each of its rules. The error is about what the trial could not clean up.
func (tr Trial) Run(ctx context.Context, lab Lab) error {
	c, err := lab.Connect("")
	if err != nil {
		return err
	}
	x := &exam{caller: caller{ctx, c.Conn}, lab: lab, client: c, rules: tr.Rules, judged: map[string]bool{}}
	tr.run(x)
	for _, rule := range tr.Rules {
		if !x.judged[rule] {
			x.judge(rule, evidence.NotSeen, cmp.Or(x.obstacle, "nothing at the service shows it"))
		}
	}
	return x.cleanUp(context.WithoutCancel(ctx)) // Also after an interruption.
}

// exam is one run of a trial.
type exam struct {
	caller

	lab      Lab
	client   *client.Client
	rules    []string
	judged   map[string]bool
	obstacle string // Why the rules without a verdict were not seen.
	cleanups []func(ctx context.Context) error
}

// blocked notes why the rest of a trial is not made.
func (x *exam) blocked(what string, a answer) { x.obstacle = what + " was " + a.said() }

func (x *exam) judge(rule string, result evidence.Result, observed string) {
	if !slices.Contains(x.rules, rule) {
		x.later(func(context.Context) error {
			return fmt.Errorf("the trial judges %q, which is not among its rules", rule)
		})
		return
	}
	x.judged[rule] = true
	x.lab.Judge(rule, result, observed)
}

// holds judges a rule by what was observed.
func (x *exam) holds(rule string, ok bool, yes, no string) {
	if ok {
		x.judge(rule, evidence.Confirmed, yes)
	} else {
		x.judge(rule, evidence.Refuted, no)
	}
}

// absent judges a rule by something that must not be there. That it is absent confirms nothing: the service may never have it.
func (x *exam) absent(rule string, found bool, no, why string) {
	if found {
		x.judge(rule, evidence.Refuted, no)
	} else {
		x.unseen(rule, why)
	}
}

// unseen notes why a rule cannot be judged. A verdict from elsewhere wins.
func (x *exam) unseen(rule, why string) { x.judge(rule, evidence.NotSeen, why) }

// answers judges a rule by the status of an answer; accepted stands for each success.
func (x *exam) answers(rule, what string, got answer, wanted int) {
	switch observed := what + " was " + got.said(); {
	case got.status == wanted:
		x.judge(rule, evidence.Confirmed, observed)
	case got.isUnclear():
		x.unseen(rule, observed)
	default:
		x.judge(rule, evidence.Refuted, observed+", not "+answer{status: wanted}.said())
	}
}

// refuses judges a rule by which one of two requests is accepted, and the other is refused with a status.
func (x *exam) refuses(rule, what string, good, bad answer, wanted int) {
	switch {
	case good.isUnclear() || bad.isUnclear():
		x.unseen(rule, fmt.Sprintf("%s was %s, and an ordinary request %s", what, bad.said(), good.said()))
	case good.status != accepted && bad.status != accepted:
		x.unseen(rule, fmt.Sprintf("%s was %s, but so was an ordinary request: %s", what, bad.said(), good.said()))
	default:
		x.answers(rule, what, bad, wanted)
	}
}

// newestFirst judges an order by createdAt. Fewer than two different times show nothing.
func (x *exam) newestFirst(rule string, rows []object) {
	const field = "createdAt"
	differ, ok := false, true
	for i := 1; i < len(rows); i++ {
		if !rows[i-1].Has(field) || !rows[i].Has(field) {
			x.unseen(rule, "a row has no "+field)
			return
		}
		earlier, later := rows[i-1].Number(field), rows[i].Number(field)
		differ = differ || earlier != later
		ok = ok && earlier >= later
	}
	if !differ {
		x.unseen(rule, "no two rows with different "+field)
		return
	}
	x.holds(rule, ok, "the newest row comes first", "an older row comes before a newer one")
}

// later registers what undoes a step of the trial; the last step is undone first.
func (x *exam) later(undo func(ctx context.Context) error) { x.cleanups = append(x.cleanups, undo) }

// cleanUp undoes all steps.
func (x *exam) cleanUp(ctx context.Context) error {
	var left []error
	for _, undo := range slices.Backward(x.cleanups) {
		left = append(left, undo(ctx))
	}
	return errors.Join(left...)
}
