package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// The provider answers for unchanged objects without the framework, and knows only defaults of booleans.
func TestDefaults_areThoseOfBooleans(t *testing.T) {
	t.Parallel()
	for _, construct := range provider.New("test")().Resources(t.Context()) {
		var meta resource.MetadataResponse
		var resp resource.SchemaResponse
		r := construct()
		r.Metadata(t.Context(), resource.MetadataRequest{ProviderTypeName: "agentyard"}, &meta)
		r.Schema(t.Context(), resource.SchemaRequest{}, &resp)
		for name, attribute := range resp.Schema.Attributes {
			isSet := false
			switch a := attribute.(type) {
			case schema.BoolAttribute, schema.DynamicAttribute:
			case schema.StringAttribute:
				isSet = a.Default != nil
			case schema.Int64Attribute:
				isSet = a.Default != nil
			case schema.Float64Attribute:
				isSet = a.Default != nil
			case schema.ListAttribute:
				isSet = a.Default != nil
			case schema.SetAttribute:
				isSet = a.Default != nil
			case schema.MapAttribute:
				isSet = a.Default != nil
			case schema.ListNestedAttribute:
				isSet = a.Default != nil
			case schema.SetNestedAttribute:
				isSet = a.Default != nil
			case schema.MapNestedAttribute:
				isSet = a.Default != nil
			case schema.SingleNestedAttribute:
				isSet = a.Default != nil
			default:
				t.Errorf("%s.%s: whether a %T has a default is not known here", meta.TypeName, name, attribute)
			}
			if isSet {
				t.Errorf("%s.%s has a default, which crud.Defaults has to know first", meta.TypeName, name)
			}
		}
	}
}
