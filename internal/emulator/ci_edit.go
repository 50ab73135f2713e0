package emulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

const (
	ciCreate   = "create"
	ciChange   = "edit"
	ciDelete   = "delete"
	codeReview = "code-review"

	workflowDirectory = ".github/workflows/"
	maxWorkflowPath   = 1024
	maxFileName       = 100 // Of a file name made from the name of a workflow.
)

// ciEvents are what starts a workflow, and the name that the code host has for each.
var ciEvents = map[string]string{
	"pull-request": "pull_request", "pr-opened": "pull_request", "comment-added": "issue_comment", "push": "push",
	"label-change": "pull_request", "checks-completed": "check_suite",
}

// ciTemplates are the modes that a scan reports as the template of a workflow.
var ciTemplates = []string{codeReview, "wiki", "qa", "security-audit"}

var (
	cronPattern = regexp.MustCompile(`(?i)^` + strings.Join([]string{
		cronField(`[0-5]?[0-9]`), cronField(`[01]?[0-9]|2[0-3]`), cronField(`0?[1-9]|[12][0-9]|3[01]`),
		cronField(`0?[1-9]|1[0-2]|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC`), cronField(`0?[0-7]|SUN|MON|TUE|WED|THU|FRI|SAT`),
	}, " +") + `$`)
	notKebab = regexp.MustCompile(`[^a-z0-9]+`)
)

// cronField matches a list of values, of ranges and of all, each with a step or without.
func cronField(values string) string {
	part := `(\*|(` + values + `)(-(` + values + `))?)(/(0?[1-9]|[1-9][0-9]))?`
	return part + `(,` + part + `)*`
}

// ciWorkflow is a workflow file as it is stored: what was asked for, by whom.
type ciWorkflow struct {
	FilePath string
	Mode     string
	ciDefinition
	Author author
}

// ciDefinition is what an edit can change. The events are sorted, each there once.
type ciDefinition struct {
	Name, YAMLParams, CustomPrompt, Schedule, Model, ReasoningEffort string
	Events                                                           []string
}

// ciWorkflowView is a workflow as a scan shows it.
type ciWorkflowView struct {
	RepoFullName      string         `json:"repoFullName"`
	FilePath          string         `json:"filePath"`
	WorkflowName      string         `json:"workflowName"`
	TriggerEvents     []string       `json:"triggerEvents"`
	ScheduleCron      string         `json:"scheduleCron,omitempty"`
	TemplateID        string         `json:"templateId,omitempty"`
	AgentActionInputs map[string]any `json:"agentActionInputs"`
	GitHubURL         string         `json:"githubUrl"`
	FileSHA           string         `json:"fileSha"`
	AuthoredBy        author         `json:"authoredBy"`
	UserPermission    string         `json:"userPermission"`
}

// author is who made a workflow, as the code host knows them.
type author struct {
	Login string `json:"login"`
	Name  string `json:"name,omitempty"`
}

func (w ciWorkflow) view(repo connectedRepository) ciWorkflowView {
	v := ciWorkflowView{
		RepoFullName: repo.FullName, FilePath: w.FilePath, WorkflowName: cmp.Or(w.Name, w.fileName()), TriggerEvents: w.triggers(), ScheduleCron: w.Schedule,
		AgentActionInputs: w.inputs(), GitHubURL: repo.URL + "/blob/" + repo.DefaultBranch + "/" + w.FilePath, FileSHA: w.sha(),
		AuthoredBy: w.Author, UserPermission: repo.UserPermission,
	}
	if slices.Contains(ciTemplates, w.Mode) {
		v.TemplateID = w.Mode
	}
	return v
}

func (w ciWorkflow) fileName() string {
	return strings.TrimSuffix(path.Base(w.FilePath), path.Ext(w.FilePath))
}

// triggers are the code host's events. Every workflow can be started by hand; a code review without events has its own.
func (w ciWorkflow) triggers() []string {
	var list []string
	for _, event := range w.Events {
		list = append(list, ciEvents[event])
	}
	if w.Schedule != "" {
		list = append(list, "schedule")
	}
	if len(list) == 0 && w.Mode == codeReview {
		list = append(list, "pull_request")
	}
	list = append(list, "workflow_dispatch")
	slices.Sort(list)
	return slices.Compact(list)
}

// inputs are the lines of yamlParams as inputs of the action, in the service's spelling.
func (w ciWorkflow) inputs() map[string]any {
	inputs := map[string]any{"actionRef": "v1"}
	names := map[string]string{
		"automatic_review": "automaticReview", "review_depth": "reviewDepth", "automatic_security_review": "automaticSecurityReview",
		"review_model": "model", "reasoning_effort": "reasoningEffort",
	}
	for line := range strings.Lines(w.YAMLParams) {
		name, value, _ := strings.Cut(line, ":")
		if to := names[strings.TrimSpace(name)]; to != "" {
			inputs[to] = strings.TrimSpace(value)
		}
	}
	if w.Model != "" {
		inputs["model"] = w.Model
	}
	if w.ReasoningEffort != "" {
		inputs["reasoningEffort"] = w.ReasoningEffort
	}
	return inputs
}

// sha differs whenever the file does.
func (w ciWorkflow) sha() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q", w.FilePath, w.Mode, w.ciDefinition))
	return hex.EncodeToString(sum[:20])
}

// firstWorkflow makes the one that every emulator begins with.
func firstWorkflow(tx *bolt.Tx) error {
	w := ciWorkflow{
		FilePath: workflowDirectory + "agent-review.yml", Mode: codeReview, Author: author{"robin", "Robin Reviewer"},
		ciDefinition: ciDefinition{Name: "Agent review", YAMLParams: "automatic_review: true\nreview_depth: deep\n", Events: []string{"pull-request"}},
	}
	return workflowTable.put(tx, key("acme/web", w.FilePath), w)
}

// ciEdit is the body of a request.
type ciEdit struct {
	action, automationName, mode string
	targets                      []ciTarget
	changes                      ciChanges
}

// ciTarget is a file of a repository. The file is empty where an edit or a deletion does not name it.
type ciTarget struct{ repo, file string }

// ciChanges are the fields of changes; nil leaves one as it is.
type ciChanges struct {
	name, yamlParams, customPrompt, schedule, model, reasoningEffort *string
	events                                                           []string
}

// ciOutcome is the result for one repository.
type ciOutcome struct {
	RepoFullName string `json:"repoFullName"`
	SessionID    string `json:"sessionId,omitempty"`
	PRURL        string `json:"prUrl,omitempty"`
	Message      string `json:"message,omitempty"`
	Error        string `json:"error,omitempty"`
}

// editCIWorkflow returns 200 for a well-formed request, even if it fails for every repository.
func editCIWorkflow(r *request) (reply, error) {
	f := r.fields()
	in := readCIEdit(f)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	outcomes := make([]ciOutcome, len(in.targets))
	for i, target := range in.targets {
		var err error
		if outcomes[i], err = r.editTarget(in, target); err != nil {
			return reply{}, err
		}
	}
	return reply{200, values{"sessions": outcomes}}, nil
}

func readCIEdit(f *fields) ciEdit {
	in := ciEdit{action: f.text("action"), automationName: f.text("automationName"), mode: f.text("modeId")}
	if changes := f.object("changes"); changes != nil {
		in.changes = readCIChanges(changes)
	} else if in.action == ciChange && !f.has("changes") {
		f.problemBy("ci-changes", "changes", "is required to edit a workflow")
	}
	first := map[ciTarget]int{}
	for i, item := range f.objects("repos") {
		target := ciTarget{item.text("repoFullName"), readWorkflowPath(item)}
		if target.file == "" && in.action == ciCreate {
			target.file = in.defaultFile()
		}
		in.targets = append(in.targets, target)
		same := ciTarget{repositoryKey(target.repo), target.file}
		if other, twice := first[same]; twice && target.repo != "" {
			item.problemBy("ci-twice", "repoFullName", "repeats the file of repos[%d]", other)
		}
		first[same] = i
	}
	return in
}

func readWorkflowPath(f *fields) string {
	file := f.text("filePath")
	name, inside := strings.CutPrefix(file, workflowDirectory)
	switch {
	case file == "":
	case len(file) > maxWorkflowPath:
		f.problemBy("ci-path", "filePath", "must have at most %d bytes, not %d", maxWorkflowPath, len(file))
	case !inside || path.Clean(file) != file || strings.Contains(name, "..") || strings.ContainsFunc(name, unicode.IsControl):
		f.problemBy("ci-path", "filePath", "must be a file under %s", workflowDirectory)
	case path.Ext(name) != ".yml" && path.Ext(name) != ".yaml":
		f.problemBy("ci-path", "filePath", "must end in .yml or .yaml")
	case path.Base(name) == path.Ext(name):
		f.problemBy("ci-path", "filePath", "must have a name before %s", path.Ext(name))
	}
	return file
}

func readCIChanges(f *fields) ciChanges {
	text := func(name string) *string {
		s := f.text(name)
		if !f.has(name) {
			return nil
		}
		return &s
	}
	c := ciChanges{
		name: text("name"), yamlParams: text("yamlParams"), customPrompt: text("customPrompt"), schedule: text("schedule"),
		model: text("customCIModel"), reasoningEffort: text("customCIReasoningEffort"),
	}
	if c.schedule != nil && *c.schedule != "" && !cronPattern.MatchString(*c.schedule) {
		f.problemBy("ci-schedule", "schedule", "must be empty or a cron expression of five fields")
	}
	c.events = f.texts("githubEvents")
	slices.Sort(c.events)
	c.events = slices.Compact(c.events)
	return c
}

func (c ciChanges) apply(d ciDefinition) ciDefinition {
	for _, field := range []struct{ to, by *string }{
		{&d.Name, c.name}, {&d.YAMLParams, c.yamlParams}, {&d.CustomPrompt, c.customPrompt}, {&d.Schedule, c.schedule},
		{&d.Model, c.model}, {&d.ReasoningEffort, c.reasoningEffort},
	} {
		if field.by != nil {
			*field.to = *field.by
		}
	}
	if c.events != nil {
		d.Events = c.events
	}
	return d
}

// workflowName is the name that the request gives the workflow, if it gives one.
func (in ciEdit) workflowName() string {
	if in.changes.name != nil && *in.changes.name != "" {
		return *in.changes.name
	}
	return in.automationName
}

// defaultFile is where a new workflow goes unless a path is given.
func (in ciEdit) defaultFile() string {
	if cmp.Or(in.mode, codeReview) == codeReview {
		return workflowDirectory + "agent-review.yml"
	}
	name := strings.Trim(notKebab.ReplaceAllString(strings.ToLower(in.workflowName()), "-"), "-")
	name = strings.Trim(name[:min(len(name), maxFileName)], "-")
	return workflowDirectory + "agentyard-" + cmp.Or(name, "workflow") + ".yml"
}

// editTarget opens a pull request, or says why there is none.
func (r *request) editTarget(in ciEdit, target ciTarget) (ciOutcome, error) {
	out := ciOutcome{RepoFullName: target.repo}
	repo, covered, err := r.repositoryByName(target.repo)
	if err != nil {
		return out, err
	}
	present, err := workflowTable.get(r.tx, key(repositoryKey(target.repo), target.file), nil)
	if err != nil {
		return out, err
	}
	exists := present != nil
	if !exists {
		present = &ciWorkflow{}
	}
	wanted, err := r.wantedWorkflow(in, target, *present)
	if err != nil {
		return out, err
	}
	switch {
	case !covered:
		out.Error = fmt.Sprintf("The code-host integration of the organization does not cover the repository %s.", target.repo)
	case repo.UserPermission == permissionRead:
		out.Error = fmt.Sprintf("The permission read is not enough to change the repository %s.", repo.FullName)
	case !repo.ServiceAppWritable:
		out.Error = fmt.Sprintf("The service may not write to the repository %s.", repo.FullName)
	case target.file == "":
		out.Error = fmt.Sprintf("The action %s needs the filePath of the workflow.", in.action)
	case in.action == ciCreate && exists:
		out.Error = fmt.Sprintf("The repository %s has a workflow %s already.", repo.FullName, target.file)
	case in.action == ciChange && !exists:
		out.Error = fmt.Sprintf("The repository %s has no workflow %s.", repo.FullName, target.file)
	case in.action == ciDelete && !exists:
		out.Message = fmt.Sprintf("There is nothing to do: the repository %s has no workflow %s.", repo.FullName, target.file)
	case in.action == ciChange && wanted.sha() == present.sha():
		out.Message = fmt.Sprintf("There is nothing to do: the workflow %s of %s is already as requested.", target.file, repo.FullName)
	default:
		out.SessionID = uuid.NewString()
		out.PRURL, err = r.openPullRequest(in.action, repo, wanted)
	}
	return out, err
}

// wantedWorkflow is the workflow that a creation or an edit results in.
func (r *request) wantedWorkflow(in ciEdit, target ciTarget, present ciWorkflow) (ciWorkflow, error) {
	w := present
	w.FilePath = target.file
	w.Mode = cmp.Or(in.mode, present.Mode, codeReview)
	w.ciDefinition = in.changes.apply(present.ciDefinition)
	if in.changes.name == nil || in.action == ciCreate {
		w.Name = cmp.Or(in.workflowName(), w.Name)
	}
	var err error
	if in.action == ciCreate {
		w.Author, err = r.author()
	}
	return w, err
}

// author is the caller as the code host knows it.
func (r *request) author() (author, error) {
	if r.who.Kind == kindService {
		a, err := r.account(r.who.ID)
		if err != nil {
			return author{}, err
		}
		return author{Login: a.Name}, nil
	}
	m, err := memberTable.get(r.tx, r.who.ID, unauthorized("The caller is no member."))
	if err != nil {
		return author{}, err
	}
	login, _, _ := strings.Cut(m.Email, "@")
	return author{login, strings.TrimSpace(m.FirstName + " " + m.LastName)}, nil
}

// openPullRequest opens one that makes a workflow what is wanted, and the job of the file. One that was open is superseded.
func (r *request) openPullRequest(action string, repo connectedRepository, wanted ciWorkflow) (string, error) {
	number := len(pullTable.keys(r.tx, key(repositoryKey(repo.FullName), ""))) + 1
	address := fmt.Sprintf("%s/pull/%d", repo.URL, number)
	j := ciJob{Open: true, Job: CIJob{
		ID: repo.FullName + "::" + wanted.FilePath, Action: action, RepoFullName: repo.FullName, FilePath: wanted.FilePath,
		PRURL: address, Status: "ready", CreatedAt: millis(r.now), UpdatedAt: millis(r.now),
	}}
	if action != ciDelete {
		j.Wanted = &wanted
	}
	var err error
	if j.Born, err = r.bornNow(jobTable); err != nil {
		return "", err
	}
	r.noteChange(j.Job.ID, j.Job.RepoFullName+" "+j.Job.FilePath)
	return address, errors.Join(
		pullTable.put(r.tx, key(repositoryKey(repo.FullName), fmt.Sprintf("%010d", number)), address),
		jobTable.put(r.tx, key(repositoryKey(repo.FullName), wanted.FilePath), j),
	)
}
