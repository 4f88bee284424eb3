package paper
import ("testing";"math";"math/rand/v2";"time";"context";"fmt"
"gonum.org/v1/gonum/mat"
"github.com/lossep/lossep/gp"
"github.com/lossep/lossep/kernel"
"github.com/lossep/lossep/infer"
"github.com/lossep/lossep/decision"
"github.com/lossep/lossep/orthant"
"github.com/lossep/lossep/normal"
"github.com/lossep/lossep/level3"
)
func TestProto(t *testing.T){
 level3.Use()
 ctx:=context.Background()
 rng:=rand.New(rand.NewPCG(1,7))
 n:=15
 x:=mat.NewDense(n,1,nil)
 for i:=range n {x.Set(i,0,-10+20*rng.Float64())}
 p,err:=gp.New(kernel.RBF(math.Exp(3),math.E),x); if err!=nil{t.Fatal(err)}
 z:=make([]float64,n); for i:=range z{z[i]=rng.NormFloat64()}
 f:=make([]float64,n); p.Views().At(f,z)
 y:=make([]float64,n); for i:=range y{ y[i]=-1; if rng.Float64()<normal.CDF(f[i]){y[i]=1}}
 m,_:=p.Classify(y)
 zz:=mat.NewDense(1500,1,nil); for j:=range 1500{zz.Set(j,0,-10+.02*(float64(j)+.5))}
 views:=p.At(zz)
 tm:=func(name string,fn func()){t0:=time.Now();fn();fmt.Println(name,time.Since(t0))}
 var ep *infer.EPResult
 tm("ep",func(){ep,err=infer.EP{}.Fit(ctx,m)})
 fmt.Println(ep.Status,y)
 v,se:=make([]float64,1500),make([]float64,1500)
 o:=decision.Probit()
 tm("vi",func(){r,_:=infer.VI{}.Fit(ctx,m);fmt.Println(r.Status)})
 tm("evidence",func(){o.Probabilities(infer.NewEvidence(m,ep),views,v,se)})
 tm("corr",func(){o.Probabilities(infer.NewCorrected(m,ep,infer.Factorised),views,v,se)})
 tm("paired",func(){o.Probabilities(infer.NewCorrected(m,ep,infer.Paired),views,v,se)})
 var ex *infer.ExactResult
 tm("exact 50k",func(){ex,err=infer.Exact{Draws:50000,Seed:3,EvidencePoints:1024}.Fit(ctx,m)})
 tm("expect",func(){o.Probabilities(ex,views,v,se)})
 fmt.Println("stderr",se[100],se[500],se[1000],se[1499],v[1499])
 // lattice
 for _,pts:=range []int{1024,4096,16384}{
  t0:=time.Now()
  for _,j:=range []int{100,500,1000}{
   lp:=func(yn float64)orthant.Probability{
    all:=mat.NewDense(n+1,1,nil); lab:=make([]float64,n+1)
    for i:=range n {all.Set(i,0,x.At(i,0)); lab[i]=y[i]}
    all.Set(n,0,zz.At(j,0)); lab[n]=yn
    s:=mat.NewSymDense(n+1,nil)
    k:=kernel.RBF(math.Exp(3),math.E)
    g:=mat.NewSymDense(n+1,nil);k.Gram(g,all)
    for a:=range n+1 {for b:=a;b<n+1;b++{ q:=lab[a]*lab[b]*g.At(a,b); if a==b {q++}; s.SetSym(a,b,q)}}
    r,err:=orthant.New(s,make([]float64,n+1)); if err!=nil{t.Fatal(err)}
    return r.LogProb(pts,5)
   }
   a,b:=lp(1),lp(-1)
   pr:=1/(1+math.Exp(b.Log-a.Log))
   fmt.Println(pts,j,pr,v[j],se[j],"relerr",a.RelErr,b.RelErr)
  }
  fmt.Println(pts,time.Since(t0)/6)
 }
 for _,u10:=range []float64{0,.5,.95}{
  u,_:=decision.NewUtility(o,1000,nil,decision.Table{{1,0},{u10,1}})
  mm:=*m; mm.Utility=u; mm.Points=views.Slice(0,1000)
  tm("lossep",func(){r,err:=infer.EP{}.Fit(ctx,&mm);fmt.Println(r.Status,err)})
  tm("lossvi",func(){r,err:=infer.LossVI{}.Fit(ctx,&mm);if err!=nil{fmt.Println(err);return};fmt.Println(r.Status,r.StdErr,err)})
 }
}
