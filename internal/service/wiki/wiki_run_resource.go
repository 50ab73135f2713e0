package wiki

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*wikiRunResource)(nil)

var creationOptions = apierror.Options{
	apierror.AtStatus{http.StatusForbidden: path.Root("repo_url"), http.StatusNotFound: path.Root("repo_url")},
	apierror.Advice{http.StatusForbidden: "The organization's code-host integration must cover the repository, and wikiCloudSync must be enabled in the enterprise controls. " +
		"The data source agentyard_ci_repositories lists the connected repositories."},
}

var listAdvice = apierror.Advice{http.StatusForbidden: "Ask a manager to enable wikiCloudSync in the enterprise controls."}

var changeOptions = apierror.Options{
	apierror.AtStatus{http.StatusForbidden: path.Root("privacy_level"), http.StatusUnprocessableEntity: path.Root("privacy_level")},
	apierror.Advice{http.StatusForbidden: "Only the owner of a wiki run and members with the Manager role or higher can change its privacy level. " +
		"Use the API key of one of them, or remove privacy_level from the configuration."},
}

var deletionAdvice = apierror.Advice{
	http.StatusForbidden: "Only the owner of a wiki run and members with the Manager role or higher can delete it. Use the API key of one of them.",
}

// NewWikiRunResource returns the resource agentyard_wiki_run.
func NewWikiRunResource() resource.Resource {
	return &wikiRunResource{crud.ByID{Resource: crud.Resource{Name: "wiki_run"}, Example: "wiki_01hzy3v7k2m4n6p8q0r2s4t6v8"}}
}

type wikiRunResource struct{ crud.ByID }

type wikiRunModel struct {
	wikiRunRecord
	Pages    jsontypes.Normalized `tfsdk:"pages"`
	PageTree jsontypes.Normalized `tfsdk:"page_tree"`
	Triggers types.Map            `tfsdk:"triggers"`
}

func (m *wikiRunModel) Identity() any { return &crud.ID{ID: m.ID} }

// OwnerOnly reports whether only the owner's API keys can see the wiki run.
func (m *wikiRunModel) OwnerOnly() bool { return m.PrivacyLevel.ValueString() == wikis.PrivacyPrivate }

// createRequest ignores JSON errors, because the validators have checked the JSON.
func (m *wikiRunModel) createRequest() wikis.CreateRequest {
	body := wikis.CreateRequest{
		RepoURL:             m.RepoURL.ValueString(),
		CommitHash:          m.CommitHash.ValueString(),
		Branch:              m.Branch.ValueString(),
		HasLocalChanges:     value.BoolPointer(m.HasLocalChanges),
		HasNonRemoteCommits: value.BoolPointer(m.HasNonRemoteCommits),
	}
	if value.IsSet(m.Pages) {
		body.Pages, _ = readPages(m.Pages.ValueString())
	}
	if value.IsSet(m.PageTree) {
		body.PageTree, _ = readTree(m.PageTree.ValueString())
	}
	return body
}

const (
	replacesRun  = " Changing this forces a new wiki run."
	adopted      = " The provider does not read this back, so the configured value is adopted after an import."
	repoURLText  = "`https` or `http` URL of a connected repository. Must not contain a user name, query, or fragment. "
	equalJSON    = "Whitespace and the order of keys are ignored."
	equalRepoURL = "Case, a trailing slash, and a trailing `.git` are ignored."
)

func (r *wikiRunResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := wikiRunResults.Resource()
	attributes["repo_url"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: repoURLText + equalRepoURL + replacesRun,
		Validators:          []validator.String{value.RepositoryURL()},
		PlanModifiers:       []planmodifier.String{modifier.KeepEqual(wikis.SameRepository, equalRepoURL), stringplanmodifier.RequiresReplace()},
	}
	attributes["branch"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: wikiRunResults["branch"].Text + " Must be a name such as `main`, without `refs/heads/`. If omitted, the service should use the default branch" + crud.Assumed("create-wiki-run") + replacesRun,
		Validators:          []validator.String{value.BranchName("To use the default branch, omit it.")},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), modifier.CreateOnlyString()},
	}
	attributes["commit_hash"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: wikiRunResults["commit_hash"].Text + " Must be 7–64 hexadecimal digits. If omitted, the service should use the latest commit" + crud.Assumed("create-wiki-run") + " To describe a later commit, change `triggers`." + replacesRun,
		Validators:          []validator.String{value.CommitHash("To use the latest commit of the branch, omit it.")},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), modifier.KeepEqual(wikis.SameCommit, "A short hash equals the full one."), modifier.CreateOnlyString()},
	}
	for _, name := range []string{"has_local_changes", "has_non_remote_commits"} {
		attributes[name] = schema.BoolAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: wikiRunResults[name].Text + " If omitted, the service should choose" + crud.Assumed("create-wiki-run-body") + replacesRun,
			PlanModifiers:       []planmodifier.Bool{boolplanmodifier.UseStateForUnknown(), modifier.CreateOnlyBool()},
		}
	}
	attributes["pages"] = schema.StringAttribute{
		Optional: true, CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "Pages to upload, as JSON: a list of objects with `path`, `title`, and `content` (Markdown), and optionally `pageId` and `order`. Use `jsonencode`. " +
			"If omitted, the service should write the pages" + crud.Assumed("create-wiki-run") + " Must not contain secrets: the state stores the pages in clear text." + replacesRun + adopted,
		Validators:    []validator.String{pagesRule},
		PlanModifiers: []planmodifier.String{modifier.KeepEqual(sameJSON, equalJSON), modifier.CreateOnlyString()},
	}
	attributes["page_tree"] = schema.StringAttribute{
		Optional: true, CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "Tree of the uploaded pages, as JSON: a list of objects with `title` and `path`, and optionally `pageId`, `order`, and `children`. " +
			"`children` is a list of the same objects. Use `jsonencode`. " +
			"Requires `pages`. The data source `agentyard_wiki_run` returns the tree that the service stores." + replacesRun + adopted,
		Validators:    []validator.String{treeRule, stringvalidator.AlsoRequires(path.MatchRoot("pages"))},
		PlanModifiers: []planmodifier.String{modifier.KeepEqual(sameJSON, equalJSON), modifier.CreateOnlyString()},
	}
	attributes["privacy_level"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: wikiRunResults["privacy_level"].Text + " The service should accept these two" + crud.Assumed("wiki-privacy-level") + " If omitted, the service should choose the level at creation" + crud.Assumed("create-wiki-run") + " Later applies keep it. " +
			"Otherwise, a new wiki run may briefly have the service's level. If setting it fails, the apply warns, and the next apply tries again.",
		Validators:    []validator.String{value.NotBlank("To keep the level, omit it.")},
		PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	attributes["triggers"] = schema.MapAttribute{
		Optional: true, ElementType: types.StringType,
		MarkdownDescription: "Arbitrary values, such as a commit hash or a release. Changing any value forces a new wiki run." + adopted,
		PlanModifiers:       []planmodifier.Map{modifier.CreateOnlyMap()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages a wiki run: the wiki of a repository at one commit. Only `privacy_level` can be updated in place." +
			crud.Requires + "any API key to create a wiki run" + crud.Assumed("create-wiki-run") + " To change or delete one: the owner's API key, or the " + crud.ManagerRole + " for a run that is not private (assumptions `delete-wiki-run`, `update-wiki-privacy`, and `list-wiki-runs`).\n\n" +
			"**Replacement.** Any other change deletes the wiki run and creates a new one. To keep a wiki available meanwhile, set `create_before_destroy = true` in the `lifecycle` block.\n\n" +
			"**Pipelines.** To create and publish wikis in a pipeline, see [Wikis from pipelines](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/wikis-from-pipelines)." + crud.AssumedFormat,
		Attributes: attributes,
	}
}

// ModifyPlan fails before anything is created if the service rejects the API key.
func (r *wikiRunResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() && !req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(apierror.For("plan", "wiki run", r.Client.Conn.CheckAccess(ctx), creationOptions)...)
	}
}

// Create sets the privacy level in a second request, because the create request does not support it.
func (r *wikiRunResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *wikiRunModel) (*wikis.Run, error) {
		made, err := r.Client.Wikis.Create(ctx, m.createRequest())
		if level := m.PrivacyLevel; err == nil && value.IsSet(level) && level.ValueString() != made.PrivacyLevel {
			failed := r.Client.Wikis.SetPrivacy(ctx, made.ID, level.ValueString())
			resp.Diagnostics.Append(withoutPrivacy(made, level.ValueString(), failed)...)
		}
		return made, err
	}, creationOptions)
}

// withoutPrivacy warns about a privacy level that could not be set. An error would taint the wiki run, and the next apply
// would replace it.
func withoutPrivacy(made *wikis.Run, level string, err error) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, failed := range apierror.For("set the privacy level of", "wiki run", err, changeOptions) {
		diags.AddAttributeWarning(path.Root("privacy_level"), "Privacy level not set",
			fmt.Sprintf("Wiki run %s of %s was created, but its privacy level is %q instead of %q. The next apply sets it.\n\n%s",
				made.ID, made.RepoURL, made.PrivacyLevel, level, failed.Detail()))
	}
	return diags
}

func (r *wikiRunResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(m *wikiRunModel) (*wikis.Run, error) {
		return r.Client.Wikis.Get(ctx, m.ID.ValueString())
	})
}

func (r *wikiRunResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, state *wikiRunModel) (*wikis.Run, error) {
		if plan.PrivacyLevel.Equal(state.PrivacyLevel) {
			return nil, nil // An adopted value changed.
		}
		return nil, r.Client.Wikis.SetPrivacy(ctx, state.ID.ValueString(), plan.PrivacyLevel.ValueString())
	}, changeOptions)
}

func (r *wikiRunResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *wikiRunModel) error {
		return r.Client.Wikis.Delete(ctx, m.ID.ValueString())
	}, deletionAdvice)
}
