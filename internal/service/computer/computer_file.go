package computer

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const fileNameText = "Name of the file in the workspace. Must be 1–255 characters, without slashes, backslashes, or `..`."

func fileNameValidators() []validator.String {
	return []validator.String{value.Length(1, 255), fileNameValidator{}}
}

type fileNameValidator struct{}

func (fileNameValidator) Description(context.Context) string {
	return "must be a file name without slashes, backslashes, or \"..\", and not blank or \".\""
}

func (v fileNameValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v fileNameValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	name := req.ConfigValue.ValueString()
	if !value.IsSet(req.ConfigValue) || name == "" {
		return
	}
	if strings.ContainsAny(name, `/\`) || strings.Contains(name, "..") || strings.TrimSpace(name) == "" || name == "." {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid File Name", fmt.Sprintf("%s %s, got: %q.", req.Path, v.Description(ctx), name))
	}
}
