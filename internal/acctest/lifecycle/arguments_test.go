package lifecycle

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
)

// emptyIsMeant are the text arguments that may be empty, with the reason.
var emptyIsMeant = map[string]string{
	"resource agentyard_environment repositories[0].script":                  "the repository needs no script",
	"resource agentyard_computer_file_upload content":                        "the file is empty",
	"resource agentyard_computer_file_upload content_base64":                 "the file is empty",
	"resource agentyard_computer_file_upload content_wo":                     "the file is empty",
	"resource agentyard_ci_workflow_edit changes.name":                       "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.custom_prompt":              "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.schedule":                   "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.yaml_params":                "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.custom_ci_model":            "an edit removes it",
	"resource agentyard_ci_workflow_edit changes.custom_ci_reasoning_effort": "an edit removes it",
}

var isTime = regexp.MustCompile(`(_at|_timestamp|_time|^start|^end)$`)

// eachText calls do with the path of each text argument, nested ones too, and of an element of each list of texts.
func eachText(at string, attributes []*tfprotov6.SchemaAttribute, do func(path string, a *tfprotov6.SchemaAttribute)) {
	for _, a := range attributes {
		path := at + a.Name
		switch {
		case !a.Optional && !a.Required:
		case a.NestedType != nil && a.NestedType.Nesting == tfprotov6.SchemaObjectNestingModeSingle:
			eachText(path+".", a.NestedType.Attributes, do)
		case a.NestedType != nil:
			eachText(path+"[0].", a.NestedType.Attributes, do)
		case a.Type.Is(tftypes.String):
			do(path, a)
		case a.Type.Is(tftypes.List{ElementType: tftypes.String}), a.Type.Is(tftypes.Set{ElementType: tftypes.String}):
			do(path+"[0]", a)
		}
	}
}

// set returns a copy of a value with the text at a path.
func set(v any, path []string, text any) any {
	if len(path) == 0 {
		return text
	}
	if path[0] == "0" {
		list, _ := v.([]any)
		if list = slices.Clone(list); len(list) == 0 {
			list = []any{nil}
		}
		list[0] = set(list[0], path[1:], text)
		return list
	}
	object, _ := v.(map[string]any)
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	object[path[0]] = set(object[path[0]], path[1:], text)
	return object
}

func with(config acctest.Values, path string, text any) acctest.Values {
	names := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune(".[]", r) })
	return set(map[string]any(config), names, text).(map[string]any)
}

// Each text argument refuses an empty text, and each time another text, at the argument itself.
func TestArguments_emptyTextsAndTimes(t *testing.T) {
	t.Parallel()
	o := newOrganization(t)
	p := acctest.NewProcess(t, o.Env, nil)
	seen := map[string]bool{}
	eachObject(p.Schemas(), func(object object) {
		config := o.In(object.arguments)
		eachText("", object.schema.Block.Attributes, func(path string, a *tfprotov6.SchemaAttribute) {
			name := object.kind + " " + object.typeName + " " + path
			if seen[name] {
				return
			}
			seen[name] = true
			at := strings.NewReplacer("[0]", `(\[0\]|\[…\])`, ".", `\.`).Replace(path)
			refuses := func(text, want string) {
				out := p.Check(object.kind, object.typeName, with(config, path, text))
				if !out.Refuses(regexp.MustCompile("^"+at+"$"), want) {
					t.Errorf("%s: %q: %s", name, text, out)
				}
			}
			if emptyIsMeant[name] == "" {
				refuses("", "")
			}
			if isTime.MatchString(a.Name) || strings.Contains(a.Description, "RFC 3339") {
				refuses("yesterday", "RFC")
			}
		})
	})
	for name := range emptyIsMeant {
		if !seen[name] {
			t.Errorf("there is no %s", name)
		}
	}
}

// Every argument may come from another resource of the same apply.
func TestResource_unknownAtPlan(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, _ *acctest.Organization) {
		full, _ := r.FullOrLeast()
		for name := range full {
			o := newOrganization(t)
			known := o.In(full)
			if known[name] == nil {
				continue
			}
			p := acctest.NewProcess(t, o.Env, nil)
			i := p.NewInstance(r.Type)
			p.ApplyLater(i, with(known, name, tftypes.UnknownValue), known).MustDo(t, acctest.ActionCreate)
			o.Plan(t, i, known).MustDo(t, acctest.ActionNone)
		}
	})
}
