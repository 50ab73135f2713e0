package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ list.ListResourceWithConfigure = (*environmentList)(nil)

// NewEnvironmentList returns the list resource agentyard_environment.
func NewEnvironmentList() list.ListResource {
	return &environmentList{environmentResource{crud.Resource{Name: "environment"}}}
}

// environmentList has the type name of environmentResource, as a list resource must.
type environmentList struct{ environmentResource }

type environmentListModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

func (l *environmentList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists environments, ordered by name. Includes the organization's environments and the API key owner's own." + anyViewer + "\n\n" +
			"**Failed builds.** The list does not contain the reason for a failed build. It is read after the import.",
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "Return the environments that this service account can see. Defaults to the API key's owner. " +
					"Importing an environment with scope `user` requires a key of the service account.",
				Validators: []validator.String{value.NotEmpty()},
			},
		},
	}
}

func (l *environmentList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var m environmentListModel
	if diags := req.Config.Get(ctx, &m); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	all := crud.AtOnce(func() ([]environments.Environment, error) {
		return l.Client.Environments.List(ctx, m.ServiceAccountID.ValueString())
	})
	crud.List[environmentModel](ctx, "environments", req, stream, all, func(e *environments.Environment) string { return e.Name }, atAccount)
}
