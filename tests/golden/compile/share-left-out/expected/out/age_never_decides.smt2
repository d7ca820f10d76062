; age_never_decides: is there a pair that breaks the demand? unsat: the property holds.
(set-option :produce-models true)
(set-logic QF_LIRA)
(echo "fairdsl-0eb2fe716a32a952")

; the individuals: x is what both share
; test_score (line 5)
(declare-const x.test_score Int)
; older (line 6)
(declare-const a.older Int)
(declare-const b.older Int)
; experience (line 7)
(declare-const x.experience Int)

; their values in Candidate
(assert (<= 1 x.test_score 5))
(assert (<= 0 a.older 1))
(assert (<= 0 b.older 1))
(assert (<= 0 x.experience 5))

; domain and target, of both (line 17)

; which pairs are comparable
(assert (not (= a.older b.older)))

; model hire, twice (line 12)
(define-fun va.0 () Real (to_real x.test_score))
(define-fun va.1 () Real (to_real x.experience))
(define-fun va.2 () Real (to_real a.older))
; a, layer 1 of 1: scores
(define-fun sa.0 () Real (+ (* 2.0 va.0) va.1 (* (- 2.0) va.2) (- 6.0)))
(define-fun vb.0 () Real (to_real x.test_score))
(define-fun vb.1 () Real (to_real x.experience))
(define-fun vb.2 () Real (to_real b.older))
; b, layer 1 of 1: scores
(define-fun sb.0 () Real (+ (* 2.0 vb.0) vb.1 (* (- 2.0) vb.2) (- 6.0)))

; the demand, negated
;   a: invite, b: refuse
(assert (and (> sa.0 0.0) (>= (- sb.0) 0.0)))
(check-sat)
(get-value (x.test_score a.older b.older x.experience))
