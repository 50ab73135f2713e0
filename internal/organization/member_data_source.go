package organization

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*memberDataSource)(nil)

// NewMemberDataSource returns the data source agentyard_member.
func NewMemberDataSource() datasource.DataSource { return &memberDataSource{} }

type memberDataSource struct{ crud.DataSourceBase }

func (d *memberDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_member"
}

func (d *memberDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := memberResults.DataSource()
	attributes["email"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: memberResults["email"].Text + " It is compared without case, and stays as it is given.",
		Validators:          []validator.String{value.Email()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One member of the organization, by email address. Somebody who is merely invited is not found. Many look-ups in one run share their requests." + managersOnly,
		Attributes:          attributes,
	}
}

func (d *memberDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "member", req, resp, func(m *memberModel) (*client.Member, error) {
		found, err := d.Client.MembersByEmail(ctx, m.Email.ValueString())
		if err != nil {
			return nil, err
		}
		return onlyMember(m.Email.ValueString(), found)
	}, needsManager)
}

// onlyMember returns the one member with an email address, or the error that says that there is none, or who has it.
func onlyMember(email string, found []client.Member) (*client.Member, error) {
	switch len(found) {
	case 0:
		return nil, &crud.Fault{At: path.Root("email"), Summary: "Member Not Found", Detail: fmt.Sprintf("The organization has no member with the email address %q. "+
			"An invitation that is pending is no member yet: who is invited is found once they have joined. Check the address; upper and lower case do not matter.", email)}
	case 1:
		return &found[0], nil
	}
	names := make([]string, len(found))
	for i, m := range found {
		names[i] = fmt.Sprintf("%s (%s)", m.Email, m.ID)
	}
	return nil, &crud.Fault{At: path.Root("email"), Summary: "Member Is Ambiguous", Detail: fmt.Sprintf("%d members have the email address %q, but for upper and lower case: %s. "+
		"Take the one that is meant from the data source agentyard_members, by its id.", len(found), email, phrase.Names(names, 10))}
}
