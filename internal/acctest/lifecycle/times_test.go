package lifecycle

import (
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// times are all arguments that take a time, each in a configuration that is wrong only there.
var times = map[string]acctest.Values{
	"resource agentyard_api_key expires_at":                               {"service_account_id": "a", "name": "n", "expires_at": "yesterday"},
	"resource agentyard_session session_settings.archived_at":             {"computer_id": "c", "session_settings": map[string]any{"archived_at": "yesterday"}},
	"resource agentyard_session session_settings.provider_lock_timestamp": {"computer_id": "c", "session_settings": map[string]any{"provider_lock_timestamp": "yesterday"}},
	"resource agentyard_session session_settings.worktree.removed_at":     {"computer_id": "c", "session_settings": map[string]any{"worktree": map[string]any{"repo_root": "/a", "removed_at": "yesterday"}}},
	"data agentyard_computer_metrics start":                               {"computer_id": "c", "start": "yesterday"},
}

var isTime = regexp.MustCompile(`(_at|_timestamp|_time|^start|^end)$`)

// Every argument that takes a time accepts RFC 3339 only, nested ones too.
func TestTimes_areRFC3339(t *testing.T) {
	t.Parallel()
	p := acctest.NewProcess(t, acctest.New(t), nil)
	var walk func(at string, attributes []*tfprotov6.SchemaAttribute)
	walk = func(at string, attributes []*tfprotov6.SchemaAttribute) {
		for _, a := range attributes {
			name := at + a.Name
			if a.NestedType != nil {
				walk(name+".", a.NestedType.Attributes)
			}
			isText := a.NestedType == nil && a.Type.Is(tftypes.String) && (a.Optional || a.Required)
			if isText && (isTime.MatchString(a.Name) || strings.Contains(a.Description, "RFC 3339")) && times[name] == nil {
				t.Errorf("%s takes a time: add it to times", name)
			}
		}
	}
	schemas := p.Schemas()
	for kind, all := range map[string]map[string]*tfprotov6.Schema{
		"resource": schemas.ResourceSchemas, "data": schemas.DataSourceSchemas, "ephemeral": schemas.EphemeralResourceSchemas, "list": schemas.ListResourceSchemas,
	} {
		for name, schema := range all {
			walk(kind+" "+name+" ", schema.Block.Attributes)
		}
	}
	for name, config := range times {
		words := strings.Fields(name)
		var out acctest.Outcome
		if words[0] == "data" {
			_, out = p.ReadData(words[1], config)
		} else {
			out = p.Plan(p.NewInstance(words[1]), config)
		}
		out.MustFail(t, words[2], "RFC")
	}
}
