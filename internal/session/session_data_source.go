package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*sessionDataSource)(nil)

// NewSessionDataSource returns the data source agentyard_session.
func NewSessionDataSource() datasource.DataSource { return &sessionDataSource{} }

type sessionDataSource struct{ crud.DataSourceBase }

type sessionDataModel struct{ sessionDataRecord }

// FromAPI takes over a record. The computer stays as it was given where the service does not tell it.
func (m *sessionDataModel) FromAPI(ctx context.Context, s *sessions.Session) diag.Diagnostics {
	computer := m.ComputerID
	diags := m.sessionDataRecord.FromAPI(ctx, s)
	if m.ComputerID.IsNull() {
		m.ComputerID = computer
	}
	return diags
}

func (d *sessionDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_session"
}

func (d *sessionDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := sessionResults.DataSource()
	attributes["id"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: sessionResults["id"].Text,
		Validators:          []validator.String{value.NotBlank("give the ID of a session")},
	}
	attributes["computer_id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: sessionResults["computer_id"].Text + " If it is given, the service asks that computer directly, and a session on another one is an error.",
		Validators:          []validator.String{value.NotBlank("give the ID of a computer, or omit it")},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One session of a coding agent, by its ID. " + sessionText + " It is one's own, or anybody's with the key of a human with the Manager role or higher. " +
			"Where the service leaves the settings out of its answer, they are taken from the listing of the computer's sessions, which holds one's own alone and shows a new session some seconds later.",
		Attributes: attributes,
	}
}

func (d *sessionDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "session", req, resp, func(m *sessionDataModel) (*sessions.Session, error) {
		found, err := d.Client.Sessions.GetWithSettings(ctx, m.ID.ValueString(), m.ComputerID.ValueString())
		switch computer := m.ComputerID.ValueString(); {
		case transport.IsNotFound(err):
			return nil, &crud.Fault{At: path.Root("id"), Summary: "Session Not Found", Detail: "There is no session with this id. Check the value; one that was deleted is not found any more."}
		case err == nil && computer != "" && found.ComputerID != "" && !strings.EqualFold(found.ComputerID, computer):
			return nil, &crud.Fault{At: path.Root("computer_id"), Summary: "Session on Another Computer", Detail: fmt.Sprintf("The session %s is on the computer %s. Correct computer_id, or omit it.", found.ID, found.ComputerID)}
		}
		return found, err
	}, ownersOnly)
}
