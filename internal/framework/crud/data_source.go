package crud

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// DataSource is a data source.
type DataSource struct {
	// Name is the type's name without the provider's prefix.
	Name        string
	Description string
	Attributes  map[string]schema.Attribute
	// Blocks may contain "timeouts".
	Blocks     map[string]schema.Block
	Validators []datasource.ConfigValidator
	// Fetch returns the model to store. Create it with the function of the same name.
	Fetch func(context.Context, *client.Client, tfsdk.Config) (model any, err error)
	// Verb and Object are for errors, such as "list" and "computers".
	Verb, Object string
	Options      apierror.Options

	client *client.Client
}

// New returns what the framework needs.
func (d DataSource) New() datasource.DataSource { return &d }

// Metadata sets the type's name.
func (d *DataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_" + d.Name
}

// Schema sets the description, the attributes, and the blocks.
func (d *DataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{MarkdownDescription: d.Description, Attributes: d.Attributes, Blocks: d.Blocks}
}

// ConfigValidators returns the checks that need more than one attribute.
func (d *DataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return d.Validators
}

// Configure sets the client that the provider created.
func (d *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	d.client = configured(req.ProviderData, &resp.Diagnostics)
}

// Read stores what Fetch returns.
func (d *DataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	model, err := d.Fetch(ctx, d.client, req.Config)
	if err != nil {
		resp.Diagnostics.Append(explain(d.Verb, d.Object, err, []apierror.Option{d.Options})...)
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, model)...)
	if m, ok := model.(ManyRows); ok && !resp.Diagnostics.HasError() {
		attributes := map[string]tftypes.Value{}
		_ = resp.State.Raw.As(&attributes) // It is an object.
		attributes["data"] = m.Rows()
		resp.State.Raw = tftypes.NewValue(resp.State.Raw.Type(), attributes)
	}
}

// ManyRows is a model whose attribute "data" may have thousands of rows. In the model, the attribute is null: State.Set would validate and
// convert a list of the framework four times, which takes as long as all other work.
type ManyRows interface{ Rows() tftypes.Value }

// Fetch returns a data source's Fetch. Complete gets a model with the configuration's values. It may return an *ObjectError.
func Fetch[M any](complete func(ctx context.Context, c *client.Client, m *M) error) func(context.Context, *client.Client, tfsdk.Config) (any, error) {
	return func(ctx context.Context, c *client.Client, config tfsdk.Config) (any, error) {
		m := new(M)
		if err := Failure(config.Get(ctx, m)); err != nil {
			return nil, err
		}
		return m, complete(ctx, c, m)
	}
}

// IDOrName requires exactly one of the arguments id and name.
func IDOrName() []datasource.ConfigValidator {
	return []datasource.ConfigValidator{value.ExactlyOne("id", "name")}
}

// FindByIDOrName returns the object with an ID or, without one, the only object with a name.
func FindByIDOrName[A any, P wire.RecordOf[A]](ctx context.Context, object string, id, name types.String,
	get func(ctx context.Context, id string) (*A, error), list func(context.Context) ([]A, error),
) (*A, error) {
	if value.IsSet(id) {
		found, err := get(ctx, id.ValueString())
		if collection.IsGone(err) {
			err = NoSuch("id", object, id.ValueString())
		}
		return found, err
	}
	all, err := list(ctx)
	if err != nil {
		return nil, err
	}
	named := collection.Filter(all, wire.HasName[A, P](name.ValueString()))
	return OnlyNamed(object, name.ValueString(), named, func(a *A) string { return P(a).Ref().ID })
}

// OnlyNamed returns the only object with a name. If there is none or more than one, it returns an error that lists them.
func OnlyNamed[A any](object, name string, found []A, id func(*A) string) (*A, error) {
	switch len(found) {
	case 0:
		return nil, &ObjectError{path.Root("name"), title(object) + " not found", fmt.Sprintf("No %s named %q exists, or the provider's API key cannot see it. Check the name, which is case-sensitive.", object, name)}
	case 1:
		return &found[0], nil
	}
	ids := make([]string, len(found))
	for i := range found {
		ids[i] = id(&found[i])
	}
	slices.Sort(ids)
	return nil, &ObjectError{path.Root("name"), title(object) + " is ambiguous", fmt.Sprintf("%d %ss are named %q: %s. Set id instead of name.", len(found), object, name, phrase.Names(ids, 10))}
}

// ObjectError is an error that an object detected itself, such as a name that two objects share.
type ObjectError struct {
	// At is the argument at fault. It may be empty.
	At              path.Path
	Summary, Detail string
}

func (f *ObjectError) Error() string { return f.Summary + ": " + f.Detail }

// NoSuch is the error for an argument with an ID that no object has.
func NoSuch(argument, object, id string) error {
	return &ObjectError{path.Root(argument), title(object) + " not found", apierror.NoSuch(object, id)}
}

// OpenFile opens a regular file that a configuration names, and returns its size. What is, for example, "attachment".
func OpenFile(at path.Path, what, name string) (*os.File, int64, error) {
	var file *os.File
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is not a regular file", name)
	}
	if err == nil {
		file, err = os.Open(name)
	}
	if err != nil {
		return nil, 0, &ObjectError{at, "Cannot read file", fmt.Sprintf("The %s cannot be read: %v. Relative paths start at the directory where Terraform runs. Use path.module or path.root for others.", what, err)}
	}
	return file, info.Size(), nil
}

// Failure returns the errors of diagnostics as one error, or nil if there are none.
func Failure(diags diag.Diagnostics) error {
	if diags.HasError() {
		return &failure{diags}
	}
	return nil
}

type failure struct{ diags diag.Diagnostics }

func (f *failure) Error() string { return f.diags[0].Summary() + ": " + f.diags[0].Detail() }

// Explained adds options that only the cause of an error decides, such as which argument is at fault. It returns nil for nil.
func Explained(err error, options ...apierror.Option) error {
	if err == nil {
		return nil
	}
	return &explained{err, options}
}

type explained struct {
	error
	options []apierror.Option
}

func (e *explained) Unwrap() error { return e.error }

func explain(verb, object string, err error, options []apierror.Option) diag.Diagnostics {
	if e, ok := err.(*explained); ok { //nolint:errorlint // It is made for the place where it is returned, and never wrapped.
		err, options = e.error, slices.Concat(options, e.options)
	}
	if failed, ok := err.(*failure); ok { //nolint:errorlint // A failure is never wrapped either.
		return failed.diags
	}
	if fault, ok := err.(*ObjectError); ok { //nolint:errorlint // An ObjectError is made for the place where it is returned, and never wrapped.
		if len(fault.At.Steps()) == 0 {
			return diag.Diagnostics{diag.NewErrorDiagnostic(fault.Summary, fault.Detail)}
		}
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(fault.At, fault.Summary, fault.Detail)}
	}
	return apierror.For(verb, object, err, options...)
}
