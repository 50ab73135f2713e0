package results

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

type tool struct {
	name string
}

type thing struct {
	id     string
	title  *string
	listed *bool
	pages  *int64
	ratio  *float64
	made   time.Time
	tree   json.RawMessage
	tags   map[string]string
	tools  []string
	dirs   []string
	source *tool
	steps  []tool
	byName map[string]tool
}

var toolRecord = Fields[*tool]{"name": String("Its name.", func(t *tool) string { return t.name })}

var record = Fields[*thing]{
	"id":     String("The ID.", func(t *thing) string { return t.id }),
	"title":  StringPointer("The title.", func(t *thing) *string { return t.title }),
	"listed": Bool("Whether.", func(t *thing) *bool { return t.listed }),
	"pages":  Int64("How many.", func(t *thing) *int64 { return t.pages }),
	"ratio":  Float64("How much.", func(t *thing) *float64 { return t.ratio }),
	"made":   Time("When.", func(t *thing) time.Time { return t.made }),
	"tree":   JSON("What is open.", func(t *thing) json.RawMessage { return t.tree }),
	"secret": SensitiveJSON("What is hidden.", func(t *thing) json.RawMessage { return t.tree }),
	"tags":   StringMap("By name.", func(t *thing) map[string]string { return t.tags }),
	"tools":  StringSet("The tools.", func(t *thing) []string { return t.tools }),
	"dirs":   StringList("The folders.", func(t *thing) []string { return t.dirs }),
	"source": Object("The source.", toolRecord, func(t *thing) *tool { return t.source }),
	"steps":  List("The steps.", toolRecord, func(t *thing) []tool { return t.steps }),
	"named":  Map("The named.", toolRecord, func(t *thing) map[string]tool { return t.byName }),
}

func full() *thing {
	title, listed, pages, ratio := "", true, int64(2), 0.5
	return &thing{
		id: "1", title: &title, listed: &listed, pages: &pages, ratio: &ratio, made: time.Unix(0, 0), tree: json.RawMessage(`{"b":1, "a":2}`),
		tags: map[string]string{"a": "b"}, tools: []string{"z", "y", "z"}, dirs: []string{"b", "a"}, source: &tool{"s"}, steps: []tool{{"one"}, {}}, byName: map[string]tool{"x": {"two"}},
	}
}

// A record has the same types everywhere, and every attribute is computed and described.
func TestRecord_isTheSameEverywhere(t *testing.T) {
	t.Parallel()
	want := record.ObjectType()
	data := dsschema.Schema{Attributes: record.DataSource()}
	for name, got := range map[string]interface{ String() string }{
		"data source": data.Type(),
		"resource":    schema.Schema{Attributes: record.Resource()}.Type(),
		"elements":    schema.NestedAttributeObject{Attributes: record.Elements()}.Type(),
		"a value":     ObjectOf(record, full()).Type(t.Context()),
		"no value":    ObjectOf(record, nil).Type(t.Context()),
		"a list":      ListOf(record, []thing{}).ElementType(t.Context()),
		"no list":     ListOf(record, nil).ElementType(t.Context()),
		"rows":        RowsOf(record, nil).ElementType(t.Context()),
	} {
		check.Is(t, name, got.String(), want.String())
	}
	for name, attribute := range record.Resource() {
		if !attribute.IsComputed() || attribute.IsOptional() || attribute.GetMarkdownDescription() != record[name].Text || attribute.IsSensitive() != (name == "secret") {
			t.Errorf("%s: computed %v, %q", name, attribute.IsComputed(), attribute.GetMarkdownDescription())
		}
	}
	for name, attribute := range data.Attributes {
		if !attribute.IsComputed() || attribute.GetMarkdownDescription() != record[name].Text || attribute.IsSensitive() != (name == "secret") {
			t.Errorf("%s: computed %v, %q", name, attribute.IsComputed(), attribute.GetMarkdownDescription())
		}
	}
}

func TestRecord_values(t *testing.T) {
	t.Parallel()
	const values = `{"dirs":["b","a"],"id":"1","listed":true,"made":"1970-01-01T00:00:00Z","named":{"x":{"name":"two"}},"pages":2,"ratio":0.500000,"secret":"{\"a\":2,\"b\":1}","source":{"name":"s"},` +
		`"steps":[{"name":"one"},{"name":<null>}],"tags":{"a":"b"},"title":"","tools":["y","z"],"tree":"{\"a\":2,\"b\":1}"}`
	check.Is(t, "the list", ListOf(record, []thing{*full()}).String(), "["+values+"]")
	for name, got := range ObjectOf(record, &thing{}).Attributes() {
		check.Is(t, name+" is null where nothing is set", got.IsNull(), true)
	}
	if !ListOf(record, nil).IsNull() || ListOf(record, []thing{}).IsNull() || RowsOf(record, nil).IsNull() || !ObjectOf(record, nil).IsNull() {
		t.Error("nothing is not null")
	}
	empty := &thing{tags: map[string]string{}, tools: []string{}, dirs: []string{}, steps: []tool{}, byName: map[string]tool{}}
	for _, name := range []string{"tags", "tools", "dirs", "steps", "named"} {
		check.Is(t, name+" is null where it is empty", record[name].Value(empty).IsNull(), false)
	}
}

// The fields of a part keep what they are.
func TestPart(t *testing.T) {
	t.Parallel()
	type whole struct{ part *thing }
	parts := Part(record, func(w *whole) *thing { return w.part })
	if one, other := ObjectOf(parts, &whole{full()}), ObjectOf(record, full()); !one.Equal(other) {
		t.Errorf("%s, want %s", one, other)
	}
	for name, attribute := range parts.Elements() {
		check.Is(t, name+" is the attribute of the record", attribute.Equal(record.Elements()[name]), true)
	}
}

func TestRecord_Into(t *testing.T) {
	t.Parallel()
	var m struct {
		Name types.String `tfsdk:"name"`
		Size types.Int64  `tfsdk:"size"`
	}
	sized := Merge(toolRecord, Fields[*tool]{"size": {Text: "The size.", Type: types.Int64Type, Value: func(*tool) attr.Value { return types.Int64Value(3) }}})
	if diags := sized.Into(t.Context(), &tool{"a"}, &m); diags.HasError() || m.Name.ValueString() != "a" || m.Size.ValueInt64() != 3 {
		t.Errorf("got %v, %v", m, diags)
	}
	check.Is(t, "fields of the record itself", len(toolRecord), 1)
}

// An update keeps a resource's results in its plan. Results in list elements are planned with the list.
func TestRecord_planModifiers(t *testing.T) {
	t.Parallel()
	for want, attributes := range map[int]map[string]schema.Attribute{1: record.Resource(), 0: record.Elements()} {
		for name, attribute := range attributes {
			check.Is(t, name+": plan modifiers", reflect.ValueOf(attribute).FieldByName("PlanModifiers").Len(), want)
		}
	}
}
