package emulator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const history = organization + "/enterprise-controls/history"

func (v *env) changeControls(settings object, email string) {
	v.t.Helper()
	raw := map[string]json.RawMessage{}
	for name, value := range settings {
		data, err := json.Marshal(value)
		must(v.t, err)
		raw[name] = data
	}
	must(v.t, v.ChangeEnterpriseControls(raw, email))
}

func TestHistoryFromTheStart(t *testing.T) {
	v := startParallel(t)
	o := v.call(200, "GET", history, nil).object(t)
	same(t, "pagination", o["pagination"], object{"hasMore": false, "nextCursor": nil})
	var got []string
	for _, x := range o["changes"].([]any) {
		c := x.(object)
		settings, user := c["settings"].(object), c["user"].(object)
		got = append(got, fmt.Sprint(c["revision"], c["updatedAt"], user["email"], user["name"], settings["maxAutonomyLevel"], settings["sessionRetentionDays"]))
		if !strings.HasPrefix(fmt.Sprint(user["id"]), "user_") {
			t.Errorf("user of revision %v: %v", c["revision"], user)
		}
	}
	if want := []string{
		fmt.Sprint(3.0, "2026-05-01T12:00:00Z", "manager@agentyard.example", "Avery Manager", "high", 90.0),
		fmt.Sprint(2.0, "2026-05-01T12:00:00Z", "manager@agentyard.example", "Avery Manager", "high", 30.0),
		fmt.Sprint(1.0, "2026-04-30T12:00:00Z", nil, nil, "medium", 30.0),
	}; !slices.Equal(got, want) {
		t.Errorf("changes: %v, want %v", got, want)
	}
}

func TestChangeEnterpriseControls(t *testing.T) {
	v := startParallel(t)
	latest := func() object {
		t.Helper()
		return v.call(200, "GET", history+"?limit=1", nil).object(t)["changes"].([]any)[0].(object)
	}
	before := latest()
	v.clock.Advance(time.Hour + time.Microsecond)
	ids, _ := v.join("Ada@people.example")
	v.changeControls(object{"outputStyle": "verbose", "modelPolicy": object{"allowCustomModels": false}, "addedLater": []int{1}, "routerGuidance": nil}, "ada@people.example")
	c := latest()
	same(t, "user", c["user"], object{"id": ids[0], "email": "Ada@people.example", "name": nil})
	want := before["settings"].(object)
	maps.Copy(want, object{"outputStyle": "verbose", "modelPolicy": object{"allowCustomModels": false}, "addedLater": []int{1}})
	delete(want, "routerGuidance")
	same(t, "settings", c["settings"], want)
	fields(t, "latest change", c, object{"revision": 4.0, "updatedAt": "2026-05-01T13:00:00Z"})

	v.changeControls(object{"outputStyle": "concise"}, "")
	want["outputStyle"] = "concise"
	c = latest()
	same(t, "settings", c["settings"], want)
	same(t, "user", c["user"], before["user"])
	// The history says who it was also after that member is gone.
	v.call(204, "DELETE", remove("ada@people.example"), nil)
	same(t, "user of revision 4", v.call(200, "GET", history+"?limit=2", nil).object(t)["changes"].([]any)[1].(object)["user"].(object)["email"], "Ada@people.example")

	for text, err := range map[string]error{
		"not be empty":  v.ChangeEnterpriseControls(nil, ""),
		`"a" is not`:    v.ChangeEnterpriseControls(map[string]json.RawMessage{"a": json.RawMessage("{")}, ""),
		"no member has": v.ChangeEnterpriseControls(map[string]json.RawMessage{"a": json.RawMessage("1")}, "ada@people.example"),
	} {
		fails(t, err, text)
	}
	same(t, "the latest revision is", latest()["revision"], 5.0)
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ShuffleLists: true})
	for i := range 9 {
		v.changeControls(object{"sessionRetentionDays": 100 + i}, "")
	}
	var got []string
	query := "?limit=5"
	for range 3 {
		o := v.call(200, "GET", history+query, nil).object(t)
		for _, c := range o["changes"].([]any) {
			got = append(got, fmt.Sprint(c.(object)["revision"]))
		}
		query = fmt.Sprintf("?limit=5&cursor=%v", o["pagination"].(object)["nextCursor"])
		// Pages go on where they were, whatever comes on top.
		v.changeControls(object{"outputStyle": "verbose"}, "")
	}
	same(t, "revisions", strings.Join(got, " "), "12 11 10 9 8 7 6 5 4 3 2 1")
	v.detail(v.call(400, "GET", history+"?cursor=none", nil), "not a cursor")
}
