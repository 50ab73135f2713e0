package wiki

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ ephemeral.EphemeralResourceWithConfigure = (*wikiVideoUploadURLEphemeral)(nil)

// NewWikiVideoUploadURLEphemeral returns the ephemeral resource agentyard_wiki_video_upload_url.
func NewWikiVideoUploadURLEphemeral() ephemeral.EphemeralResource {
	return &wikiVideoUploadURLEphemeral{crud.Ephemeral{Name: "wiki_video_upload_url"}}
}

type wikiVideoUploadURLEphemeral struct{ crud.Ephemeral }

type wikiVideoUploadURLModel struct {
	URL       types.String `tfsdk:"url"`
	ExpiresAt types.String `tfsdk:"expires_at"`
	Fields    types.Map    `tfsdk:"fields"`
}

func (e *wikiVideoUploadURLEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Creates a signed URL for uploading the video of a wiki. Each plan and apply creates a new one, which is never stored." + crud.AnyKey + "\n\n" +
			"**Upload.** The URL should take the video as a form, without the API key: first `fields`, then the video as the part `file`" + crud.Assumed("wiki-video-upload") + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Computed: true, Sensitive: true,
				MarkdownDescription: "The signed URL. Anyone who has it and the fields can upload a video.",
			},
			"expires_at": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "When the URL expires (RFC 3339, UTC). Null if the service does not return it.",
			},
			"fields": schema.MapAttribute{
				Computed: true, Sensitive: true,
				ElementType:         types.StringType,
				MarkdownDescription: "Signed fields of the form, by name. Null if the URL needs none.",
			},
		},
	}
}

func (e *wikiVideoUploadURLEphemeral) Open(ctx context.Context, _ ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	upload, err := e.Client.Wikis.CreateVideoUpload(ctx)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("open", "wiki video upload URL", err, apierror.Advice{http.StatusForbidden: switchedOff})...)
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
