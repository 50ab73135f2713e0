package contract

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
)

// Assumption is what this project decided where the documentation is silent.
type Assumption struct {
	// ID is unique in the contract, such as "rotate-api-key".
	ID string
	// Areas are the tags of the operations that it concerns, sorted.
	Areas []string
	// Place is what carries the mark: the IDs of operations, or the JSON pointer of a component.
	Place string
	// Why says what is open and what was decided, in sentences.
	Why string
	// Rule is true if the form of a response shows nothing about it: it takes requests that are made for the purpose.
	Rule bool
}

// Assumptions returns the marks of the document and the rules of Rules that are assumed, sorted by ID.
func (d *Document) Assumptions() []Assumption { return slices.Clone(d.assumptions) }

// finder collects assumptions from the document as JSON, in which all places look alike.
type finder struct {
	tags       map[string][]string // By operation ID.
	components map[string]any      // By JSON pointer.
	areas      map[string][]string // Of the components, by JSON pointer.
	found      []Assumption
}

func (d *Document) findAssumptions() error {
	source, err := d.routes[0].declared.Spec.MarshalJSON()
	if err != nil {
		return err
	}
	var whole struct {
		Paths      map[string]any
		Components map[string]map[string]any
	}
	if err := json.Unmarshal(source, &whole); err != nil {
		return err
	}
	f := finder{tags: map[string][]string{}, components: map[string]any{}, areas: map[string][]string{}}
	for _, o := range d.Operations() {
		f.tags[o.ID] = []string{o.Tag}
	}
	for kind, named := range whole.Components {
		for name, component := range named {
			f.components["/components/"+kind+"/"+name] = component
		}
	}
	for _, item := range whole.Paths {
		f.spread(item, tagsIn(item))
		f.walk(item, "", tagsIn(item))
	}
	for place, component := range f.components {
		f.walk(component, place, f.areas[place])
	}
	for _, r := range rules {
		if r.Source != Assumed {
			continue
		}
		var areas []string
		for _, id := range r.Operations {
			areas = append(areas, f.tags[id]...)
		}
		f.found = append(f.found, Assumption{r.ID, distinct(areas), strings.Join(r.Operations, ", "), r.Text, true})
	}
	slices.SortFunc(f.found, func(a, b Assumption) int { return cmp.Compare(a.ID, b.ID) })
	d.assumptions = f.found
	return nil
}

// walk collects the marks in a node.
func (f *finder) walk(node any, place string, areas []string) {
	if fields, ok := node.(map[string]any); ok {
		if id, ok := fields["operationId"].(string); ok {
			place, areas = id, f.tags[id]
		}
		if mark, ok := fields["x-assumption"].(map[string]any); ok {
			id, _ := mark["id"].(string)
			why, _ := mark["why"].(string)
			f.found = append(f.found, Assumption{id, areas, place, why, mark["rule"] == true})
		}
	}
	for _, child := range children(node) {
		f.walk(child, place, areas)
	}
}

// spread notes for the components that a node refers to, and for those that they refer to, that areas use them.
func (f *finder) spread(node any, areas []string) {
	if fields, ok := node.(map[string]any); ok {
		if ref, ok := fields["$ref"].(string); ok {
			place := strings.TrimPrefix(ref, "#")
			if all := distinct(slices.Concat(f.areas[place], areas)); len(all) > len(f.areas[place]) {
				f.areas[place] = all
				f.spread(f.components[place], areas)
			}
		}
	}
	for _, child := range children(node) {
		f.spread(child, areas)
	}
}

// tagsIn returns the tags of the operations of a path, which are the same for all.
func tagsIn(item any) []string {
	for _, operation := range children(item) {
		fields, _ := operation.(map[string]any)
		if tags, ok := fields["tags"].([]any); ok {
			tag, _ := tags[0].(string)
			return []string{tag}
		}
	}
	return nil
}

func children(node any) []any {
	switch node := node.(type) {
	case []any:
		return node
	case map[string]any:
		all := make([]any, 0, len(node))
		for _, child := range node {
			all = append(all, child)
		}
		return all
	}
	return nil
}

func distinct(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}
