package analytics

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// An empty text is a value: a hook without a matcher, a file without an extension.
func TestRows_emptyTexts(t *testing.T) {
	t.Parallel()
	empty := ""
	hook := results.ObjectOf(hookCount, &analytics.HookCount{Event: &empty}).Attributes()
	if !hook["event"].Equal(types.StringValue("")) || !hook["matcher"].IsNull() {
		t.Errorf("got %v", hook)
	}
	files := results.ObjectOf(productivityRow, &analytics.ProductivityRow{ByExtension: []analytics.ExtensionCount{{Extension: &empty}, {}}}).Attributes()
	check.Is(t, "the rows", files["by_extension"].String(), `[{"count":<null>,"extension":""},{"count":<null>,"extension":<null>}]`)
	check.Is(t, "a list that is left out is null", files["by_language"].IsNull(), true)
}
