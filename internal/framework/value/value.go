// Package value converts between the API's values and the framework's values, and validates the latter.
package value

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/mail"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// StringOrNull returns null for the empty string, which the API uses for an unset field.
func StringOrNull(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}

// Time returns an RFC 3339 string in UTC, or null for the zero time.
func Time(t time.Time) types.String {
	if t.IsZero() {
		return types.StringNull()
	}
	return types.StringValue(t.UTC().Format(time.RFC3339Nano))
}

// StringPointer returns nil for null and unknown, so that the request omits the field.
func StringPointer(s types.String) *string {
	if s.IsNull() || s.IsUnknown() {
		return nil
	}
	return s.ValueStringPointer()
}

// Changed returns the text for an update, or nil if it is as in the state, null, or unknown, so that the request omits the field.
func Changed(plan, state types.String) *string {
	if plan.Equal(state) {
		return nil
	}
	return StringPointer(plan)
}

// BoolPointer returns nil for null and unknown, so that the request omits the field.
func BoolPointer(b types.Bool) *bool {
	if b.IsNull() || b.IsUnknown() {
		return nil
	}
	return b.ValueBoolPointer()
}

// Strings returns the elements of a list of strings, or nil if the list is null or unknown.
func Strings(list types.List) []string {
	var items []string
	for _, element := range list.Elements() {
		if s, ok := element.(types.String); ok {
			items = append(items, s.ValueString())
		}
	}
	return items
}

// IsSet reports whether a value is neither null nor unknown.
func IsSet(v attr.Value) bool {
	return !v.IsNull() && !v.IsUnknown()
}

// IsFullyKnown reports whether a value and all its parts are known.
func IsFullyKnown(ctx context.Context, v attr.Value) bool {
	given, err := v.ToTerraformValue(ctx)
	return err == nil && given.IsFullyKnown()
}

// MayBeTrue reports whether a bool is true or unknown.
func MayBeTrue(b types.Bool) bool { return b.ValueBool() || b.IsUnknown() }

// AbsolutePath returns the same text for all spellings of a local path. It keeps one that is null or not known.
func AbsolutePath(name types.String) types.String {
	if absolute, err := filepath.Abs(name.ValueString()); err == nil && IsSet(name) {
		return types.StringValue(absolute)
	}
	return name
}

// JSON returns normalized JSON: sorted keys, no whitespace, and numbers as the API wrote them. It returns null for empty
// input, and an error if raw is not valid JSON.
func JSON(raw json.RawMessage) (jsontypes.Normalized, error) {
	if len(bytes.TrimSpace(raw)) == 0 || bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return jsontypes.NewNormalizedNull(), nil
	}
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber() // A float64 would change large numbers.
	var decoded any
	if err := in.Decode(&decoded); err != nil {
		return jsontypes.NewNormalizedNull(), fmt.Errorf("read what should be JSON: %w", err)
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(decoded); err != nil {
		return jsontypes.NewNormalizedNull(), fmt.Errorf("normalize JSON: %w", err)
	}
	return jsontypes.NewNormalizedValue(string(bytes.TrimSpace(out.Bytes()))), nil
}

// rule accepts or rejects a known string.
type rule struct {
	// summary is the title of the error. must follows the attribute's path in its detail. hint is its last sentence; empty for
	// none.
	summary string
	must
	hint    string
	accepts func(string) bool
	// got describes the rejected value. Nil if the message already contains it.
	got func(string) string
}

// must is what a validator demands.
type must string

func (m must) Description(context.Context) string         { return string(m) }
func (m must) MarkdownDescription(context.Context) string { return string(m) }

func (r rule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if !IsSet(req.ConfigValue) {
		return
	}
	given := req.ConfigValue.ValueString()
	if r.accepts(given) {
		return
	}
	at := req.Path.String()
	if last, _ := req.Path.Steps().LastStep(); last.Equal(path.PathStepElementKeyValue{Value: req.ConfigValue}) {
		at = fmt.Sprintf("%s[%q]", req.Path.ParentPath(), given)
	}
	detail := at + " " + string(r.must)
	if r.got != nil {
		detail += ", not " + r.got(given)
	}
	resp.Diagnostics.AddAttributeError(req.Path, r.summary, phrase.Join(detail+".", r.hint))
}

// AtLeast accepts integers from least.
func AtLeast(least int64) validator.Int64 { return Between(least, math.MaxInt64) }

// Between accepts integers from least to most.
func Between(least, most int64) validator.Int64 {
	text := fmt.Sprintf("must be from %s to %s", phrase.Thousands(least), phrase.Thousands(most))
	if most == math.MaxInt64 {
		text = "must be at least " + phrase.Thousands(least)
	}
	return integers{must(text), least, most}
}

type integers struct {
	must
	least, most int64
}

func (i integers) ValidateInt64(_ context.Context, req validator.Int64Request, resp *validator.Int64Response) {
	if n := req.ConfigValue.ValueInt64(); IsSet(req.ConfigValue) && (n < i.least || n > i.most) {
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of range", fmt.Sprintf("%s %s, not %s.", req.Path, i.must, phrase.Thousands(n)))
	}
}

// NumberAtLeast accepts numbers from least.
func NumberAtLeast(least float64) validator.Float64 {
	return number{must(fmt.Sprintf("must be at least %g", least)), least}
}

type number struct {
	must
	least float64
}

func (l number) ValidateFloat64(_ context.Context, req validator.Float64Request, resp *validator.Float64Response) {
	if n := req.ConfigValue.ValueFloat64(); IsSet(req.ConfigValue) && n < l.least {
		resp.Diagnostics.AddAttributeError(req.Path, "Number out of range", fmt.Sprintf("%s %s, not %g.", req.Path, l.must, n))
	}
}

// ExactlyOne requires exactly one of some attributes of a data source or an action. One that is not known yet may be set.
func ExactlyOne(names ...string) datasource.ConfigValidator {
	and := strings.NewReplacer(`"`, "", " or ", " and ")
	return exactlyOne{must("set exactly one of " + and.Replace(phrase.Either(names))), names}
}

// notExactlyOne is the summary of the errors of ExactlyOne.
const notExactlyOne = "Not exactly one argument"

type exactlyOne struct {
	must
	names []string
}

func (o exactlyOne) ValidateDataSource(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var set []string
	mayBeSet := false
	for _, name := range o.names {
		var v attr.Value
		resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root(name), &v)...)
		if mayBeSet = mayBeSet || v.IsUnknown(); IsSet(v) {
			set = append(set, name)
		}
	}
	switch text := "S" + string(o.must)[1:]; {
	case len(set) > 1:
		resp.Diagnostics.AddAttributeError(path.Root(set[0]), notExactlyOne, text+". These are set: "+strings.Join(set, ", ")+".")
	case set == nil && !mayBeSet:
		resp.Diagnostics.AddError(notExactlyOne, text+".")
	}
}

// Length accepts strings of least to most characters. It counts characters, not bytes.
func Length(least, most int) validator.String {
	text := fmt.Sprintf("must be %d to %d characters long", least, most)
	if least == 0 {
		text = fmt.Sprintf("must be at most %d characters long", most)
	}
	return rule{
		summary: "Invalid length", must: must(text),
		accepts: func(s string) bool { n := utf8.RuneCountInString(s); return n >= least && n <= most },
		got:     func(s string) string { return strconv.Itoa(utf8.RuneCountInString(s)) },
	}
}

// NotEmpty rejects the empty string, because the service treats it as unset.
func NotEmpty() validator.String {
	return rule{summary: "Empty value", must: "must not be empty", accepts: func(s string) bool { return s != "" }}
}

// NotBlank rejects a string that is empty or contains only spaces. The hint is a sentence.
func NotBlank(hint string) validator.String {
	return rule{summary: "Blank value", must: "must not be blank", hint: hint, accepts: func(s string) bool { return strings.TrimSpace(s) != "" }}
}

// Except rejects one value. The hint is a sentence.
func Except(refused, hint string) validator.String {
	return rule{
		summary: "Invalid value", must: must(fmt.Sprintf("must not be %q", refused)), hint: hint,
		accepts: func(s string) bool { return s != refused },
	}
}

// OneOf accepts the listed values.
func OneOf(values ...string) validator.String {
	return Where("must be "+phrase.Either(values), func(s string) bool { return slices.Contains(values, s) })
}

// Where accepts strings that a text describes.
func Where(text string, accepts func(string) bool) validator.String {
	return where("Invalid value", text, accepts)
}

// where is Where with another title of the error.
func where(summary, text string, accepts func(string) bool) rule {
	return rule{summary: summary, must: must(text), accepts: accepts, got: strconv.Quote}
}

var uuidPattern = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

// UUID accepts a UUID with hyphens.
func UUID() validator.String {
	return where("Invalid UUID", "must be a UUID, such as 1b4e28ba-2fa1-41d2-883f-0016d3cca427", uuidPattern.MatchString)
}

// RFC3339 accepts an RFC 3339 time.
func RFC3339() validator.String {
	return where("Invalid time", "must be an RFC 3339 time, such as 2027-01-31T08:00:00Z", isTime(time.RFC3339))
}

// Day accepts an existing date in the format YYYY-MM-DD.
func Day() validator.String {
	return where("Invalid date", "must be a date in the format YYYY-MM-DD, such as 2026-02-28", isTime(time.DateOnly))
}

func isTime(layout string) func(string) bool {
	return func(s string) bool { _, err := time.Parse(layout, s); return err == nil }
}

// Email accepts an email address without a name or brackets.
func Email() validator.String {
	return where("Invalid email address", "must be an email address, such as avery@agentyard.example", IsEmail)
}

// IsEmail reports whether a string is an email address without a name or brackets.
func IsEmail(s string) bool {
	address, err := mail.ParseAddress(s)
	return err == nil && address.Address == s
}

// DurationAtLeast accepts durations in the syntax of clock.ParseDuration that are at least least. The examples show typical
// values for the attribute.
func DurationAtLeast(least time.Duration, examples ...string) validator.String {
	text := fmt.Sprintf("must be a duration of at least %s", least)
	if len(examples) > 0 {
		text += fmt.Sprintf(", such as \"%s\"", strings.Join(examples, `", "`))
	}
	return where("Invalid duration", text, func(s string) bool { d, err := clock.ParseDuration(s); return err == nil && d >= least })
}

// URI accepts an absolute URI.
func URI() validator.String {
	return where("Invalid URI", "must be an absolute URI, such as https://git.example/acme/app", func(s string) bool {
		u, err := url.Parse(s)
		return err == nil && u.IsAbs() && (u.Host != "" || u.Opaque != "")
	})
}

// RepositoryURL accepts the web URL of a repository. It rejects other parts of a URL, because they would be lost or may be
// secrets.
func RepositoryURL() validator.String {
	return rule{
		summary: "Invalid repository URL",
		must:    "must be the http or https URL of a repository, without a user name, whitespace, query, fragment, encoded slash, \".\", or \"..\", such as https://code.example/acme/api",
		accepts: isRepositoryURL,
		got:     func(s string) string { return strconv.Quote(withoutUser(s)) },
	}
}

func isRepositoryURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && u.User == nil && !strings.ContainsAny(s, "?#") &&
		!strings.ContainsFunc(s, unicode.IsSpace) && namesRepository(u)
}

// namesRepository reports whether a URL has a path that no client or server normalizes to another path.
func namesRepository(u *url.URL) bool {
	written, parts := strings.ToLower(u.EscapedPath()), strings.Split(u.Path, "/")
	return strings.Trim(u.Path, "/") != "" && !strings.Contains(written, "%2f") && !strings.Contains(written, "%5c") &&
		!slices.Contains(parts, "..") && !slices.Contains(parts, ".")
}

var commitPattern = regexp.MustCompile(`^[0-9a-fA-F]{7,64}$`)

// CommitHash accepts a full or short commit hash. For anything else, such as a tag, the service returns a hash, which
// differs from the configuration.
func CommitHash(hint string) validator.String {
	return rule{
		summary: "Invalid commit hash", must: "must be 7 to 64 hexadecimal digits", hint: hint,
		accepts: commitPattern.MatchString, got: strconv.Quote,
	}
}

// BranchName accepts the name of a branch but not a Git reference, because the service returns only the name.
func BranchName(hint string) validator.String {
	return rule{
		summary: "Invalid branch", must: "must be the name of a branch, such as main, without refs/heads/", hint: hint,
		accepts: func(s string) bool { return strings.TrimSpace(s) != "" && !strings.HasPrefix(s, "refs/") }, got: strconv.Quote,
	}
}

// withoutUser removes the user part of a URL, because it may contain a password.
func withoutUser(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return scheme + "://…@" + rest[at+1:]
	}
	return s
}

// Timeouts returns the timeouts block of a resource or an action, whose attributes the texts describe by name.
func Timeouts(texts map[string]string) schema.SingleNestedBlock {
	attributes, attributeTypes := map[string]schema.Attribute{}, map[string]attr.Type{}
	for name, text := range texts {
		attributeTypes[name] = types.StringType
		attributes[name] = schema.StringAttribute{Optional: true, MarkdownDescription: text, Validators: []validator.String{
			timeout("must be a number with a unit, such as 90s, 30m, or 1h30m", func(_ time.Duration, err error) bool { return err == nil }),
			timeout("must be longer than 0s", func(d time.Duration, err error) bool { return err != nil || d > 0 }),
		}}
	}
	return schema.SingleNestedBlock{
		MarkdownDescription: "Maximum times, as durations such as `90s`, `30m`, or `1h30m`. The largest unit is the hour: two days are `48h`.",
		Attributes:          attributes,
		CustomType:          timeouts.Type{ObjectType: types.ObjectType{AttrTypes: attributeTypes}},
	}
}

func timeout(text string, accepts func(time.Duration, error) bool) validator.String {
	return where("Invalid timeout", text, func(s string) bool { return accepts(time.ParseDuration(s)) })
}
