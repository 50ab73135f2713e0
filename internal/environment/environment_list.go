package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ list.ListResourceWithConfigure = (*environmentList)(nil)

// NewEnvironmentList returns the list resource agentyard_environment.
func NewEnvironmentList() list.ListResource { return &environmentList{} }

// environmentList has the type name of environmentResource, as a list resource must.
type environmentList struct{ environmentResource }

type environmentListModel struct {
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

func (l *environmentList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the environments that the API key sees, or that a service account sees, ordered by name: those of the organization, and the viewer's own. " +
			"Why an environment has failed is known only after its import.",
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "The environments that this service account sees; those that the API key sees if omitted. Needs the key of a human with the Manager role or higher. " +
					"Those of user scope are imported with a key of the account itself.",
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
	all := crud.AtOnce(func() ([]client.Environment, error) {
		return l.Client.Environments(ctx, m.ServiceAccountID.ValueString())
	})
	crud.List[environmentModel](ctx, "environments", req, stream, all, func(e *client.Environment) string { return e.Name })
}
