package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type accountRecord struct {
	ID          types.String `tfsdk:"id"`
	Name        types.String `tfsdk:"name"`
	Description types.String `tfsdk:"description"`
	Status      types.String `tfsdk:"status"`
}

// FromAPI keeps the configured spelling of an equal name or description.
func (m *accountRecord) FromAPI(ctx context.Context, a *serviceaccounts.Account) diag.Diagnostics {
	prior := *m
	diags := accountResults.Into(ctx, a, m)
	m.Name = modifier.Keep(prior.Name, m.Name, wire.SameText)
	m.Description = modifier.Keep(prior.Description, m.Description, wire.SameText)
	return diags
}

func (m *accountRecord) Identity() any { return &crud.ID{ID: m.ID} }

// accountResults describes the fields of an accountRecord.
var accountResults = results.Fields[*serviceaccounts.Account]{
	"id":          results.String("The service account's ID.", func(a *serviceaccounts.Account) string { return a.ID }),
	"name":        results.String("The service account's name.", func(a *serviceaccounts.Account) string { return a.Name }),
	"description": results.String("The service account's description.", func(a *serviceaccounts.Account) string { return a.Description }),
	"status":      results.String("The service account's status. The service should accept API keys only while their account is `active`"+crud.Assumed("inactive-account-keys")+" The API documents list no values; the examples use `active` and `inactive`.", func(a *serviceaccounts.Account) string { return a.Status }),
}
