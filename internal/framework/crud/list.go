package crud

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
)

// ListResource is a list resource. It has the type name of a managed resource, as Terraform requires.
type ListResource struct {
	// Name is the type's name without the provider's prefix.
	Name        string
	Description string
	Attributes  map[string]schema.Attribute
	// Results yields what is listed. Create it with ListAtOnce, or call List.
	Results func(context.Context, *client.Client, list.ListRequest, *list.ListResultsStream)
}

// New returns what the framework needs.
func (l ListResource) New() list.ListResource { return &listResource{Resource{Name: l.Name}, l} }

type listResource struct {
	Resource
	of ListResource
}

// ListResourceConfigSchema sets the description and the arguments.
func (l *listResource) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: l.of.Description, Attributes: l.of.Attributes}
}

// List yields the results.
func (l *listResource) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	l.of.Results(ctx, l.Client, req, stream)
}

// ListAtOnce returns the Results of a list resource that finds all objects at once, when Terraform reads the first one. Find gets a model
// with the configuration's values, and Terraform's limit.
func ListAtOnce[M, C, A any, P ModelOf[M, A]](objects string,
	find func(ctx context.Context, c *client.Client, config *C, limit int) ([]A, error), displayName func(*A) string, options ...apierror.Option,
) func(context.Context, *client.Client, list.ListRequest, *list.ListResultsStream) {
	return func(ctx context.Context, c *client.Client, req list.ListRequest, stream *list.ListResultsStream) {
		config := new(C)
		if diags := req.Config.Get(ctx, config); diags.HasError() {
			stream.Results = list.ListResultsStreamDiagnostics(diags)
			return
		}
		List[M, A, P](ctx, objects, req, stream, func(yield func(A, error) bool) {
			found, err := find(ctx, c, config, int(req.Limit))
			if err != nil {
				yield(*new(A), err)
				return
			}
			for _, item := range found {
				if !yield(item, nil) {
					return
				}
			}
		}, displayName, options...)
	}
}

// List yields a result for each item up to Terraform's limit: identity, display name, and the whole resource if requested.
// Items are fetched lazily.
func List[M, A any, P ModelOf[M, A]](ctx context.Context, objects string, req list.ListRequest, stream *list.ListResultsStream,
	items iter.Seq2[A, error], displayName func(*A) string, options ...apierror.Option,
) {
	stream.Results = func(yield func(list.ListResult) bool) {
		count := int64(0)
		for item, err := range items {
			if err != nil {
				yield(list.ListResult{Diagnostics: explain("list", objects, err, options)})
				return
			}
			count++
			result := req.NewListResult(ctx)
			result.DisplayName = displayName(&item)

			var m M
			result.Diagnostics.Append(emptyModel(ctx, &result, &m)...)
			result.Diagnostics.Append(P(&m).FromAPI(ctx, &item)...)
			if imported, ok := any(P(&m)).(Importable[A]); ok {
				result.Diagnostics.Append(imported.FromImport(ctx, &item)...)
			}
			result.Diagnostics.Append(result.Identity.Set(ctx, P(&m).Identity())...)
			if req.IncludeResource {
				result.Diagnostics.Append(result.Resource.Set(ctx, &m)...)
				setDefaults(ctx, result.Resource.Schema, &result.Resource.Raw)
			}
			if !yield(result) || count == req.Limit {
				return
			}
		}
	}
}

// emptyModel fills a model with typed nulls, because Go's zero values have no type.
func emptyModel(ctx context.Context, result *list.ListResult, model any) diag.Diagnostics {
	object, _ := result.Resource.Schema.Type().TerraformType(ctx).(tftypes.Object) // Any schema is one.
	nulls := make(map[string]tftypes.Value, len(object.AttributeTypes))
	for name, typ := range object.AttributeTypes {
		nulls[name] = tftypes.NewValue(typ, nil)
	}
	empty := *result.Resource
	empty.Raw = tftypes.NewValue(object, nulls)
	return empty.Get(ctx, model)
}
