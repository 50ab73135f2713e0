package wiki

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*wikiVideoUploadURLEphemeral)(nil)

// NewWikiVideoUploadURLEphemeral returns the ephemeral resource agentyard_wiki_video_upload_url.
func NewWikiVideoUploadURLEphemeral() ephemeral.EphemeralResource {
	return &wikiVideoUploadURLEphemeral{}
}

type wikiVideoUploadURLEphemeral struct{ crud.Ephemeral }

type wikiVideoUploadURLModel struct {
	URL       types.String `tfsdk:"url"`
	ExpiresAt types.String `tfsdk:"expires_at"`
	Fields    types.Map    `tfsdk:"fields"`
}

func (e *wikiVideoUploadURLEphemeral) Metadata(_ context.Context, req ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_wiki_video_upload_url"
}

func (e *wikiVideoUploadURLEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "A signed address to which the video of a wiki can be uploaded for a short time, without the API key. It is made anew in each plan and apply and never stored. " +
			"The video is posted there as a form, `fields` first and the file last, in the part `file`.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The signed address. Whoever has it and the fields can upload a video.",
			},
			"expires_at": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "When the address expires (RFC 3339, UTC). Null if the service does not say.",
			},
			"fields": schema.MapAttribute{
				Computed: true, Sensitive: true,
				ElementType:         types.StringType,
				MarkdownDescription: "The signed fields of the form, by name. Null if the address needs none.",
			},
		},
	}
}

func (e *wikiVideoUploadURLEphemeral) Open(ctx context.Context, _ ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	upload, err := e.Client.CreateWikiVideoUpload(ctx)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("open", "upload address for a wiki video", err, apierror.Advice{http.StatusForbidden: switchedOff})...)
		return
	}
	m := wikiVideoUploadURLModel{URL: types.StringValue(upload.URL), ExpiresAt: value.Time(upload.ExpiresAt), Fields: types.MapNull(types.StringType)}
	if upload.Fields != nil {
		fields, diags := types.MapValueFrom(ctx, types.StringType, upload.Fields)
		resp.Diagnostics.Append(diags...)
		m.Fields = fields
	}
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
