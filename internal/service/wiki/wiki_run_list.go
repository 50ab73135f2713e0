package wiki

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ list.ListResourceWithConfigure = (*wikiRunList)(nil)

// NewWikiRunList returns the list resource agentyard_wiki_run.
func NewWikiRunList() list.ListResource {
	return &wikiRunList{wikiRunResource{crud.Resource{Name: "wiki_run"}}}
}

// wikiRunList has the type name of wikiRunResource, as a list resource must.
type wikiRunList struct{ wikiRunResource }

type wikiRunListModel struct {
	RepoURL types.String `tfsdk:"repo_url"`
}

func (l *wikiRunList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists wiki runs: the newest one of each repository, ordered by URL, or all of one repository, newest first. " +
			"`pages`, `page_tree`, and `triggers` are null." + crud.AnyKey + crud.AssumedFormat,
		Attributes: map[string]schema.Attribute{
			"repo_url": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Return all wiki runs of the repository with this URL. If omitted, returns the newest wiki run of each repository.",
				Validators:          []validator.String{value.RepositoryURL()},
			},
		},
	}
}

func (l *wikiRunList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	var m wikiRunListModel
	if diags := req.Config.Get(ctx, &m); diags.HasError() {
		stream.Results = list.ListResultsStreamDiagnostics(diags)
		return
	}
	runs, advice := l.Client.Wikis.List, apierror.Option(listAdvice)
	if !m.RepoURL.IsNull() {
		runs = func(ctx context.Context) ([]wikis.Run, error) {
			return l.Client.Wikis.History(ctx, m.RepoURL.ValueString())
		}
		advice = creationOptions
	}
	all := crud.AtOnce(func() ([]wikis.Run, error) { return runs(ctx) })
	crud.List[wikiRunModel](ctx, "wiki runs", req, stream, all, func(w *wikis.Run) string { return w.RepoURL + "@" + w.CommitHash }, advice)
}
