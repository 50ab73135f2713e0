package crud

import (
	"context"
	"iter"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
)

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
				result.Diagnostics.Append(setDefaults(ctx, result.Resource.Schema, &result.Resource.Raw)...)
			}
			if !yield(result) || count == req.Limit {
				return
			}
		}
	}
}

// AtOnce yields the items of a single request, which is sent when the first item is read.
func AtOnce[A any](list func() ([]A, error)) iter.Seq2[A, error] {
	return func(yield func(A, error) bool) {
		items, err := list()
		if err != nil {
			var none A
			yield(none, err)
			return
		}
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// emptyModel fills a model with typed nulls, because Go's zero values have no type.
func emptyModel(ctx context.Context, result *list.ListResult, model any) diag.Diagnostics {
	object, ok := result.Resource.Schema.Type().TerraformType(ctx).(tftypes.Object)
	if !ok {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Schema without attributes", "The resource's schema is not an object. This is a bug in the provider. Please report it.")}
	}
	nulls := make(map[string]tftypes.Value, len(object.AttributeTypes))
	for name, typ := range object.AttributeTypes {
		nulls[name] = tftypes.NewValue(typ, nil)
	}
	empty := *result.Resource
	empty.Raw = tftypes.NewValue(object, nulls)
	return empty.Get(ctx, model)
}
