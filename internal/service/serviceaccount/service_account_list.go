package serviceaccount

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list"
	"github.com/hashicorp/terraform-plugin-framework/list/schema"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

var _ list.ListResourceWithConfigure = (*accountList)(nil)

// NewServiceAccountList returns the list resource agentyard_service_account.
func NewServiceAccountList() list.ListResource {
	return &accountList{crud.Resource{Name: "service_account"}}
}

type accountList struct{ crud.Resource }

func (l *accountList) ListResourceConfigSchema(_ context.Context, _ list.ListResourceSchemaRequest, resp *list.ListResourceSchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: "Lists the service accounts of the organization, ordered by name." + crud.ManagersOnly + crud.AssumedFormat}
}

func (l *accountList) List(ctx context.Context, req list.ListRequest, stream *list.ListResultsStream) {
	all := crud.AtOnce(func() ([]serviceaccounts.Account, error) { return l.Client.ServiceAccounts.List(ctx) })
	crud.List[accountModel](ctx, "service accounts", req, stream, all, func(a *serviceaccounts.Account) string { return a.Name })
}
