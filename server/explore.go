package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/lossep/lossep/lab"
	"github.com/lossep/lossep/server/problem"
)

func (s *Server) exploreReactor(x *exchange) error {
	return solve(s, x, func(ctx context.Context, q lab.ReactorRequest) (*lab.ReactorView, error) { return q.Solve(ctx) })
}

func (s *Server) exploreClassifier(x *exchange) error {
	return solve(s, x, func(ctx context.Context, q lab.Classifier) (*lab.ClassifierView, error) { return q.Solve(ctx) })
}

// solve reads a problem of package lab, has it solved, and writes the view.
func solve[Q, A any](s *Server, x *exchange, solve func(context.Context, Q) (*A, error)) error {
	const most = 64 << 10 // ten times what the largest problem takes
	body, err := s.readBody(x, most, "application/json")
	var refused *problem.Problem
	if errors.As(err, &refused) && refused.Status == http.StatusRequestEntityTooLarge {
		refused.Detail = fmt.Sprintf("the body has more than %d bytes, and no problem that is explored takes as many; send fewer points", most)
	}
	if err != nil {
		return err
	}
	defer body.free()
	var q Q
	if err := problem.Strict("", body.Bytes(), &q); err != nil {
		return err
	}
	ctx, cancel := s.deadline(x)
	defer cancel()
	if err := s.exploring.enter(ctx); err != nil {
		return problem.Late(ctx, err)
	}
	defer s.exploring.leave()
	ctx, stop := context.WithTimeout(ctx, s.config.ExploreDeadline)
	defer stop()
	view, err := solve(s.long(ctx, x), q)
	var input *lab.InputError
	switch {
	case errors.As(err, &input):
		return problem.Wrong(input.Field, "%s", input.Msg)
	case err != nil:
		return problem.Late(ctx, err)
	}
	x.writeJSON(view)
	return nil
}
