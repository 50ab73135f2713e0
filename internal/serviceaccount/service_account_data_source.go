package serviceaccount

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ datasource.DataSourceWithConfigure        = (*accountDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*accountDataSource)(nil)
)

// NewServiceAccountDataSource returns the data source agentyard_service_account.
func NewServiceAccountDataSource() datasource.DataSource { return &accountDataSource{} }

type accountDataSource struct{ crud.DataSource }

func (d *accountDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_service_account"
}

func (d *accountDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := accountResults()
	attributes["id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: describeAccount["id"] + " Exactly one of `id` and `name` must be given.",
		Validators:          []validator.String{value.NotEmpty()},
	}
	attributes["name"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: describeAccount["name"] + " Exactly one of `id` and `name` must be given.",
		Validators:          []validator.String{value.Length(1, 128)},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One service account, by its ID or its name." + managersOnly,
		Attributes:          attributes,
	}
}

func (d *accountDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("name"))}
}

func (d *accountDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m accountModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var found *client.ServiceAccount
	var err error
	if value.IsSet(m.ID) {
		found, err = d.Client.ServiceAccount(ctx, m.ID.ValueString())
		if client.IsNotFound(err) {
			resp.Diagnostics.AddAttributeError(path.Root("id"), "Service Account Not Found", fmt.Sprintf("The organization has no service account with ID %q. Check the value; a deleted account is not found.", m.ID.ValueString()))
			return
		}
	} else {
		var all []client.ServiceAccount
		all, err = d.Client.ServiceAccounts(ctx)
		all = slices.DeleteFunc(all, func(a client.ServiceAccount) bool { return a.Name != m.Name.ValueString() })
		switch {
		case err != nil:
		case len(all) == 0:
			resp.Diagnostics.AddAttributeError(path.Root("name"), "Service Account Not Found", fmt.Sprintf("The organization has no service account named %q. Check the value; upper and lower case differ.", m.Name.ValueString()))
			return
		case len(all) > 1:
			resp.Diagnostics.AddAttributeError(path.Root("name"), "Service Account Is Ambiguous", fmt.Sprintf("%d service accounts are named %q, among them %s and %s. Give the id of the one that is meant.", len(all), m.Name.ValueString(), all[0].ID, all[1].ID))
			return
		default:
			found = &all[0]
		}
	}
	if err != nil {
		resp.Diagnostics.Append(apierror.For("read", "service account", err)...)
		return
	}
	resp.Diagnostics.Append(m.FromAPI(ctx, found)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}
