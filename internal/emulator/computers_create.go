package emulator

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
)

const (
	maxBulk      = 20
	defaultUser  = "agent"
	kindTemplate = "template"
	kindComputer = "computer"
)

// sourceInput is the field source of a creation.
type sourceInput struct {
	kind, templateID, sourceComputerID string
	isListed                           bool
	draft                              []string // The three IDs of a software draft, or none.
}

// readSource reads source.
func readSource(f *fields) *sourceInput {
	s := f.object("source")
	if s == nil {
		return nil
	}
	in := &sourceInput{kind: s.text("kind"), templateID: s.text("templateId"), sourceComputerID: s.text("sourceComputerId"), isListed: s.boolean("isListed")}
	if d := s.object("softwareDraft"); d != nil {
		in.draft = []string{d.uuid("workstreamId"), d.uuid("creationSessionId"), d.uuid("firstTurnId")}
	}
	in.isListed = in.isListed || in.kind == kindComputer
	return in
}

func createComputer(r *request) (reply, error) {
	f := r.fields()
	c := &computer{
		ID: uuid.NewString(), Name: f.text("name"), HostID: f.uuid("hostId"), RemoteUser: cmp.Or(f.text("remoteUser"), defaultUser),
		ProviderType: f.enumBy("provider-unknown", "provider", append([]string{providerBYOM}, managedProviders...)...),
		Repos:        f.texts("repos"), AutoInstallDeps: f.boolean("autoInstallDeps"),
		IsListed: true,
	}
	accountID, source := f.text("serviceAccountId"), readSource(f)
	if c.ProviderType == providerBYOM {
		for _, name := range []string{"repos", "autoInstallDeps", "source"} {
			if f.has(name) {
				f.problemBy("byom-field", name, "is only for managed computers, not for the provider byom")
			}
		}
	}
	if err := f.done(); err != nil {
		return reply{}, err
	}
	owner, err := r.creator(accountID, f.has("serviceAccountId"))
	if err != nil {
		return reply{}, err
	}
	c.OwnerKind, c.OwnerID = owner.Kind, owner.ID
	if existing, err := r.applySource(c, source); err != nil || existing != nil {
		return reply{200, existing}, err
	}
	if err := r.setUp(c); err != nil {
		return reply{}, err
	}
	return reply{201, r.computerView(c, false)}, nil
}

// creator returns who will own a new computer.
func (r *request) creator(accountID string, named bool) (principal, error) {
	owner, err := r.owner(accountID, named)
	if err != nil || !named {
		return owner, err
	}
	a, err := r.account(accountID)
	if err == nil && !a.active() {
		err = refuse("account-inactive", "The service account %q is not active.", a.Name)
	}
	return owner, err
}

// applySource checks what a computer is made from. It returns the computer that a replayed receipt made earlier.
func (r *request) applySource(c *computer, in *sourceInput) (*computerView, error) {
	if in == nil {
		return nil, nil
	}
	c.IsListed, c.Source = in.isListed, &computerSource{Kind: in.kind, TemplateID: in.templateID}
	if in.kind == kindComputer {
		origin, err := r.computer(in.sourceComputerID)
		if err != nil {
			return nil, err
		}
		if origin.ProviderType == providerBYOM {
			return nil, refuse("byom-clone", "The computer %q is a BYOM computer and cannot be cloned.", origin.Name)
		}
		c.Source.ComputerID = origin.ID
		return nil, nil
	}
	if in.draft != nil {
		c.DraftKey = key(append([]string{c.OwnerID}, in.draft...)...)
		existing, err := computerTable.get(r.tx, computersByDraft.find(r.tx, c.DraftKey), nil)
		if err != nil {
			return nil, err
		}
		if existing != nil {
			view := existing.view(r.now, false)
			return &view, nil
		}
	}
	if !slices.Contains(knownTemplates, in.templateID) {
		return nil, notFound("No template with the ID %q was found.", in.templateID)
	}
	return nil, nil
}

// setUp stores a new computer and starts its provisioning.
func (r *request) setUp(c *computer) (err error) {
	if c.born, err = r.bornNow(computerTable); err != nil {
		return err
	}
	c.ProviderType = cmp.Or(c.ProviderType, availableProviders[0])
	if c.ProviderType != providerBYOM {
		if !slices.Contains(availableProviders, c.ProviderType) {
			return refuse("provider-unavailable", "The provider %q is not available to the organization; available are %s.", c.ProviderType, strings.Join(availableProviders, ", "))
		}
		// A refused creation must not use up a programmed failure.
		if err := checkUnique(r.tx, c); err != nil {
			return err
		}
		c.Plan = r.e.plan(c)
		if c.AutoInstallDeps {
			c.InstallSessionID = uuid.NewString()
		}
	}
	end, change := c.progressAt(r.now.Add(maxAhead)), r.noteChange(c.ID, c.Name)
	if change.Until = end.endedAt; end.status == statusError {
		change.Failure = "provisioning failed"
	}
	return saveComputer(r.tx, c)
}

// bulkCreateComputers makes identical managed computers and stops at the first failure; what exists by then stays.
func bulkCreateComputers(r *request) (reply, error) {
	f := r.fields()
	quantity, prefix := int(f.integer("quantity")), f.text("namePrefix")
	model := computer{
		ProviderType: f.enumBy("provider-unknown", "provider", managedProviders...), RemoteUser: defaultUser, IsListed: true,
		Repos: f.texts("repos"), AutoInstallDeps: f.boolean("autoInstallDeps"),
	}
	accountID := f.text("serviceAccountId")
	if err := f.done(); err != nil {
		return reply{}, err
	}
	owner, err := r.creator(accountID, f.has("serviceAccountId"))
	if err != nil {
		return reply{}, err
	}
	model.OwnerKind, model.OwnerID = owner.Kind, owner.ID

	made, response := []computerView{}, values{"requestedQuantity": quantity}
	var failure *bulkFailure
	r.e.program(func(s *switches) {
		if s.bulk != nil && s.bulk.After < quantity {
			failure, s.bulk = s.bulk, nil
		}
	})
	for suffix := 1; len(made) < quantity; suffix++ {
		if failure != nil && len(made) == failure.After {
			response["error"] = values{"message": failure.Message}
			break
		}
		c := model
		c.ID, c.Name = uuid.NewString(), fmt.Sprintf("%s-%d", prefix, suffix)
		if computersByName.find(r.tx, key(c.OwnerID, c.Name)) != "" {
			continue
		}
		if err := r.setUp(&c); err != nil {
			return reply{}, err
		}
		made = append(made, r.computerView(&c, false))
	}
	response["computers"] = made
	return reply{201, response}, nil
}

// FailBulkAfter makes the next bulk creation of more than n computers stop after n, with this message in its response.
func (e *Emulator) FailBulkAfter(n int, message string) {
	e.program(func(s *switches) { s.bulk = &bulkFailure{n, message} })
}
