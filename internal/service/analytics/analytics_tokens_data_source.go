package analytics

import (
	"github.com/agentyard/terraform-provider-agentyard/internal/client/analytics"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// TokensDataSource is the data source agentyard_analytics_tokens.
var TokensDataSource = ofOrganization("analytics_tokens", "Returns the standard credits and tokens of the organization for each day, by model and by user. "+
	"With thousands of users, set `group_by` to leave out `by_user`.", crud.AssumedFormat, "analytics of tokens", tokenRow, dateAndGroup,
	groupBy("model", "model", "the five numbers of credits and tokens"), func(c *analytics.Client) *analytics.Query[analytics.TokenRow] { return c.Tokens })

var tokenRow = results.Fields[*analytics.TokenRow]{
	"date":               dateOfRow(func(r *analytics.TokenRow) string { return r.Date }),
	"group_key":          groupOfRow("ID of the model.", func(r *analytics.TokenRow) *string { return r.GroupKey }),
	"billable_tokens":    results.Float64("Standard credits used. The service computes them from input and output tokens, with discounts for cached tokens.", func(r *analytics.TokenRow) *float64 { return r.BillableTokens }),
	"input_tokens":       results.Float64("Input tokens.", func(r *analytics.TokenRow) *float64 { return r.InputTokens }),
	"output_tokens":      results.Float64("Output tokens.", func(r *analytics.TokenRow) *float64 { return r.OutputTokens }),
	"cache_read_tokens":  results.Float64("Tokens read from the cache.", func(r *analytics.TokenRow) *float64 { return r.CacheReadTokens }),
	"cache_write_tokens": results.Float64("Tokens written to the cache.", func(r *analytics.TokenRow) *float64 { return r.CacheWriteTokens }),
	"by_model":           results.List("Usage by model, ordered by `model_id`.", modelTokens, func(r *analytics.TokenRow) []analytics.ModelTokens { return r.ByModel }),
	"by_user":            results.List("Usage by user, ordered by `user_id`.", userTokens, func(r *analytics.TokenRow) []analytics.UserTokens { return r.ByUser }),
}

var modelTokens = results.Fields[*analytics.ModelTokens]{
	"model_id":        results.StringPointer("ID of the model.", func(m *analytics.ModelTokens) *string { return m.ModelID }),
	"model_tier":      results.StringPointer("Tier of the model, such as `standard` or `thinking`.", func(m *analytics.ModelTokens) *string { return m.ModelTier }),
	"billable_tokens": results.Float64("Standard credits used for the model.", func(m *analytics.ModelTokens) *float64 { return m.BillableTokens }),
	"input_tokens":    results.Float64("Input tokens of the model.", func(m *analytics.ModelTokens) *float64 { return m.InputTokens }),
	"output_tokens":   results.Float64("Output tokens of the model.", func(m *analytics.ModelTokens) *float64 { return m.OutputTokens }),
}

var userTokens = results.Fields[*analytics.UserTokens]{
	"user_id":         results.StringPointer(userIDText, func(u *analytics.UserTokens) *string { return u.UserID }),
	"user_email":      results.StringPointer(userEmailText, func(u *analytics.UserTokens) *string { return u.UserEmail }),
	"billable_tokens": results.Float64("Standard credits used by the user.", func(u *analytics.UserTokens) *float64 { return u.BillableTokens }),
	"by_model":        results.List("Usage of the user by model, ordered by `model_id`.", modelTokens, func(u *analytics.UserTokens) []analytics.ModelTokens { return u.ByModel }),
}
